package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
)

// A Kind is why a call failed.
type Kind string

const (
	DialFailed  Kind = "dial"        // no connection
	TLSFailed   Kind = "tls"         // no handshake, or a certificate that nobody trusts
	Timeout     Kind = "timeout"     // no whole answer within Limits.Timeout
	Reset       Kind = "reset"       // the connection broke
	BadStatus   Kind = "status"      // a status that was not expected
	Unexpected  Kind = "expectation" // an answer that is not what the scenario expects
	OtherFailed Kind = "other"       // an error of an ActionFunc
)

// A KindError is an error whose kind is known.
type KindError struct {
	Kind Kind
	Err  error // what happened, as reports show it
}

func (e *KindError) Error() string { return fmt.Sprintf("%s: %v", e.Kind, e.Err) }

func (e *KindError) Unwrap() error { return e.Err }

func failed(kind Kind, format string, args ...any) error {
	return &KindError{kind, fmt.Errorf(format, args...)}
}

// KindOf returns the kind of a call's error.
func KindOf(err error) Kind {
	var known *KindError
	var operation *net.OpError
	var network net.Error
	switch {
	case errors.As(err, &known):
		return known.Kind
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return Timeout
	case isTLS(err):
		return TLSFailed
	case errors.As(err, &operation) && operation.Op == "dial":
		return DialFailed
	case operation != nil, errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe):
		return Reset
	}
	return OtherFailed
}

func isTLS(err error) bool {
	var record tls.RecordHeaderError
	var verification *tls.CertificateVerificationError
	var alert tls.AlertError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	return errors.As(err, &record) || errors.As(err, &verification) || errors.As(err, &alert) ||
		errors.As(err, &authority) || errors.As(err, &name)
}
