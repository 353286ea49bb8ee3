package swarm

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"math/big"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// A token lets an agent in, and tells it that the server is the right one: no authority vouches
// for a certificate that is made for one run.
type token struct {
	secret string
	pin    string // SHA-256 of the certificate; empty where the server's is one that others vouch for
}

// String returns the token as it is given to agents.
func (t token) String() string { return t.secret + "." + t.pin }

// parseToken reads what String wrote. A text without a point is a secret alone.
func parseToken(text string) token {
	secret, pin, _ := strings.Cut(text, ".")
	return token{secret, pin}
}

// certificateTime is how long a certificate is good; its clock need not be that of the agents.
const certificateTime = 30 * 24 * time.Hour

// newToken makes a certificate and its token.
func newToken() (tls.Certificate, token, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, token{}, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "dewload"},
		NotBefore: time.Now().Add(-certificateTime), NotAfter: time.Now().Add(certificateTime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, token{}, err
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, token{rand.Text(), pinOf(der)}, nil
}

func pinOf(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

var errPin = errors.New("the NATS there is not the one that the token is of")

// options are how to connect with the token.
func (t token) options() []nats.Option {
	if t == (token{}) {
		return nil
	}
	options := []nats.Option{nats.Token(t.secret)}
	if t.pin != "" {
		options = append(options, nats.Secure(&tls.Config{
			MinVersion: tls.VersionTLS13,
			// The pin says which certificate is right, and no authority has to.
			InsecureSkipVerify: true,
			VerifyConnection: func(s tls.ConnectionState) error {
				if len(s.PeerCertificates) == 0 || pinOf(s.PeerCertificates[0].Raw) != t.pin {
					return errPin
				}
				return nil
			},
		}))
	}
	return options
}
