package secret

import (
	"slices"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	Headers("X-Own")
	Know("hunter2hunter2", "a", "${token}")
	for _, c := range []struct{ from, want string }{
		{"GET /a?uid=5&from=x of http://host/a", ""},
		{"session[0].take.token: \"x\" is no JSON pointer", ""},
		{"data.key: give it a name of letters", ""},
		{"known here are ${token}", ""},
		{"123 sessions were dropped", ""},
		{"http://user:pass@host/", "http://…@host/"},
		{"http://us@er:p@ss@host/a@b", "http://…@host/a@b"},
		{"nats://TOKEN@10.0.0.1:4222", "nats://…@10.0.0.1:4222"},
		{`Get "http://h/m?a=1&api_key=K&b=2": refused`, `Get "http://h/m?a=1&api_key=…&b=2": refused`},
		{"GET /a?access_token=T", "GET /a?access_token=…"},
		{"GET /a?%74oken=T", "GET /a?%74oken=…"},
		{"user=u&password=p", "user=u&password=…"},
		{`{"user": "u", "password": "a\"b", "n": 1}`, `{"user": "u", "password": "…", "n": 1}`},
		{"Authorization: Bearer T and more", "Authorization: …"},
		{"cookie:sid=1", "cookie:…"},
		{"X-Own: 5", "X-Own: …"},
		{"it answered hunter2hunter2, twice", "it answered …, twice"},
	} {
		if c.want == "" {
			c.want = c.from
		}
		if got := Text(c.from); got != c.want {
			t.Errorf("%q becomes %q, want %q", c.from, got, c.want)
		}
		if got := Text(Text(c.from)); got != c.want {
			t.Errorf("twice %q becomes %q", c.from, got)
		}
	}
	for from, want := range map[string]string{
		"json: {user: u, password: hunter}": "json: {user: u, password: …}",
		"take: {token: /token}":             "take: {token: /token}",
		"token: {lines: a.txt}":             "token: {lines: a.txt}",
	} {
		if got := Excerpt(from); got != want {
			t.Errorf("the line %q becomes %q, want %q", from, got, want)
		}
	}
}

func TestKnown(t *testing.T) {
	KnowHeader("Authorization", "Bearer CREDENTIALS")
	KnowHeader("Cookie", "sid=COOKIEVALUE; theme=dark")
	KnowHeader("Accept", "PUBLIC")
	KnowURL("http://u:PASS%2FWORD@h/x?key=QUERYVALUE&id=PUBLIC")
	KnowURL("nats://NATSTOKEN@h")
	got := Text("CREDENTIALS COOKIEVALUE PASS/WORD PASS%2FWORD QUERYVALUE NATSTOKEN PUBLIC")
	if got != strings.Repeat("… ", 6)+"PUBLIC" {
		t.Errorf("got %s", got)
	}
}

func TestArgs(t *testing.T) {
	got := Args([]string{
		"dewload", "http://u:p@h/?token=t", "--header", "Authorization: Bearer B", "--header=X-Auth-Token:x", "--header", "Accept: y",
		"--token", "T", "--token=T", "--nats", "T@h:4222", "--nats=nats://T@h", "--body", `{"password":"p"}`, "--rate=5", "--insecure",
	})
	want := []string{
		"dewload", "http://…@h/?token=…", "--header", "Authorization: …", "--header=X-Auth-Token: …", "--header", "Accept: y",
		"--token", "…", "--token=…", "--nats", "…@h:4222", "--nats=nats://…@h", "--body", `{"password":"…"}`, "--rate=5", "--insecure",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q, want\n%q", got, want)
	}
}
