package load

import (
	"maps"
	"net/http"

	"github.com/dewpond/dewpond/instruments/internal/secret"
)

// knowSecrets tells what this scenario has that no report may show.
func (p *plan) knowSecrets(o *Options) {
	secret.Headers(o.SecretHeader...)
	secret.KnowURL(p.Target)
	secret.KnowURL(o.Metrics)
	secret.KnowURL(o.Pprof)
	secret.KnowHeader("Authorization", p.basic)
	headers := []http.Header{p.Header}
	for _, step := range p.steps {
		switch do := step.caller.(type) {
		case *request:
			headers = append(headers, do.Header)
			secret.KnowURL(do.URL)
		case *socket:
			headers = append(headers, do.Header)
			secret.KnowURL(do.Socket.URL)
		case *procedure:
			headers = append(headers, do.Header)
		}
	}
	for _, h := range headers {
		for name, values := range maps.All(h) {
			for _, value := range values {
				secret.KnowHeader(name, value)
			}
		}
	}
}

// hide replaces the secrets in all texts of a result, and in the command that made it.
func (r *Result) hide() {
	r.Command = secret.Args(r.Command)
	secret.Hide(r)
}
