//go:build goexperiment.jsonv2 || go1.28

package dewjson

import (
	"encoding/json/v2"
	"io"
)

// MarshalV2 is [Pool.Marshal] with encoding/json/v2.
func (p *Pool) MarshalV2(v any, options ...json.Options) (*Body, error) {
	return p.fill(func(b *Body) error { return json.MarshalWrite(b.Buffer, v, options...) })
}

// UnmarshalV2 is [Pool.Unmarshal] with encoding/json/v2.
func (p *Pool) UnmarshalV2(r io.Reader, v any, options ...json.Options) error {
	body, err := p.blocks.ReadAll(r)
	defer p.blocks.Put(body)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, v, options...)
}
