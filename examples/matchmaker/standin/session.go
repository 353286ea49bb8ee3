package standin

import (
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// A session is one client's conversation.
type session struct {
	*pgproto3.Backend
	postgres *Postgres
	types    *pgtype.Map
	prepared map[string]statement
	portals  map[string]portal
	skipping bool // after an error, all until the next Sync
}

// A portal is a statement with its arguments.
type portal struct {
	statement
	values  []any
	formats []int16 // of the results
}

func (s *session) fail(code, message string) {
	s.Send(&pgproto3.ErrorResponse{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: code, Message: message})
	s.skipping = true
}

// answer answers one message. An error ends the conversation.
func (s *session) answer(m pgproto3.FrontendMessage) error {
	switch m := m.(type) {
	case *pgproto3.Sync:
		s.skipping = false
		clear(s.portals)
		return s.ready()
	case *pgproto3.Query:
		s.query(m.String)
		s.skipping = false
		return s.ready()
	case *pgproto3.Flush:
		return s.Flush()
	}
	if s.skipping {
		return nil
	}
	switch m := m.(type) {
	case *pgproto3.Parse:
		known, err := s.postgres.lookup(m.Query)
		if err != nil {
			s.fail("0A000", err.Error())
			break
		}
		s.prepared[m.Name] = known
		s.Send(&pgproto3.ParseComplete{})
	case *pgproto3.Describe:
		s.describe(m)
	case *pgproto3.Bind:
		s.bind(m)
	case *pgproto3.Execute:
		if p, ok := s.portals[m.Portal]; ok {
			s.execute(p)
		} else {
			s.fail("34000", fmt.Sprintf("portal %q does not exist", m.Portal))
		}
	case *pgproto3.Close:
		if m.ObjectType == 'S' {
			delete(s.prepared, m.Name)
		} else {
			delete(s.portals, m.Name)
		}
		s.Send(&pgproto3.CloseComplete{})
	default:
		s.fail("0A000", fmt.Sprintf("the stand-in does not know %T", m))
	}
	return nil
}

func (s *session) ready() error {
	s.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	return s.Flush()
}

// query answers a simple query: a ping, or a statement without arguments.
func (s *session) query(sql string) {
	if sql = strings.TrimSpace(sql); sql == "" || sql == ";" || strings.HasPrefix(sql, "--") {
		s.Send(&pgproto3.EmptyQueryResponse{})
		return
	}
	known, err := s.postgres.lookup(strings.TrimSuffix(sql, ";"))
	if err != nil || len(known.args) > 0 {
		s.fail("0A000", "the stand-in does not answer this as a simple query: "+sql)
		return
	}
	s.describeRows(known.columns, nil)
	s.execute(portal{statement: known})
}

func (s *session) describe(m *pgproto3.Describe) {
	if m.ObjectType == 'P' {
		p := s.portals[m.Name]
		s.describeRows(p.columns, p.formats)
		return
	}
	known, ok := s.prepared[m.Name]
	if !ok {
		s.fail("26000", fmt.Sprintf("prepared statement %q does not exist", m.Name))
		return
	}
	s.Send(&pgproto3.ParameterDescription{ParameterOIDs: known.args})
	s.describeRows(known.columns, nil)
}

func (s *session) describeRows(columns []column, formats []int16) {
	if len(columns) == 0 {
		s.Send(&pgproto3.NoData{})
		return
	}
	fields := make([]pgproto3.FieldDescription, len(columns))
	for i, c := range columns {
		fields[i] = pgproto3.FieldDescription{Name: []byte(c.name), DataTypeOID: c.oid, DataTypeSize: size(c.oid), TypeModifier: -1, Format: format(formats, i)}
	}
	s.Send(&pgproto3.RowDescription{Fields: fields})
}

func size(oid uint32) int16 {
	switch oid {
	case int8:
		return 8
	case int4:
		return 4
	}
	return -1
}

// format is the format of the i-th value: all have one, or each its own; text if none is given.
func format(formats []int16, i int) int16 {
	switch {
	case len(formats) == 0:
		return pgtype.TextFormatCode
	case len(formats) == 1:
		return formats[0]
	}
	return formats[i]
}

func (s *session) bind(m *pgproto3.Bind) {
	known, ok := s.prepared[m.PreparedStatement]
	if !ok {
		s.fail("26000", fmt.Sprintf("prepared statement %q does not exist", m.PreparedStatement))
		return
	}
	if len(m.Parameters) != len(known.args) {
		s.fail("08P01", fmt.Sprintf("%d arguments, and the statement has %d", len(m.Parameters), len(known.args)))
		return
	}
	p := portal{statement: known, formats: append([]int16(nil), m.ResultFormatCodes...)}
	for i, raw := range m.Parameters {
		v, err := s.decode(known.args[i], format(m.ParameterFormatCodes, i), raw)
		if err != nil {
			s.fail("22P02", err.Error())
			return
		}
		p.values = append(p.values, v)
	}
	s.portals[m.DestinationPortal] = p
	s.Send(&pgproto3.BindComplete{})
}

// decode reads an argument. No statement of the service has a NULL.
func (s *session) decode(oid uint32, format int16, raw []byte) (any, error) {
	switch oid {
	case int8:
		return decoded[int64](s, oid, format, raw)
	case int4:
		return decoded[int32](s, oid, format, raw)
	case bytea:
		return decoded[[]byte](s, oid, format, raw)
	}
	return decoded[string](s, oid, format, raw)
}

func decoded[T any](s *session, oid uint32, format int16, raw []byte) (any, error) {
	var v T
	err := s.types.Scan(oid, format, raw, &v)
	return v, err
}

func (s *session) execute(p portal) {
	s.postgres.work()
	rows, fault := p.run(s.postgres.data, p.values)
	if fault != nil {
		s.fail(fault.code, fault.message)
		return
	}
	for _, row := range rows {
		values := make([][]byte, len(row))
		for i, v := range row {
			b, err := s.types.Encode(p.columns[i].oid, format(p.formats, i), v, nil)
			if err != nil {
				s.fail("XX000", err.Error())
				return
			}
			values[i] = b
		}
		s.Send(&pgproto3.DataRow{Values: values})
	}
	count := len(rows)
	if len(p.columns) == 0 {
		count = 1
	}
	s.Send(&pgproto3.CommandComplete{CommandTag: fmt.Appendf(nil, "%s %d", p.tag, count)})
}
