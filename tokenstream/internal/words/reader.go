package words

import (
	"errors"
	"fmt"
	"io"

	"github.com/brimful/brimful/tokenstream/internal/columns"
)

// chunk is how many bytes are read at a time.
const chunk = 256 << 10

// A Reader reads integers of one type one after another.
type Reader struct {
	r    io.Reader
	t    Type
	buf  []byte
	left []byte // read and not yet used
}

// NewReader returns a reader of what r gives.
func NewReader(r io.Reader, t Type) *Reader {
	return &Reader{r: r, t: t, buf: make([]byte, chunk)}
}

// Append appends the next n integers. Memory grows only as they come.
func (r *Reader) Append(dst []int32, n int64) ([]int32, error) {
	for done := int64(0); done < n; {
		if len(r.left) < r.t.Size {
			if err := r.fill(); err != nil {
				return dst, err
			}
		}
		k := min(int64(len(r.left)/r.t.Size), n-done)
		var err error
		if dst, err = r.t.Append(dst, r.left[:k*int64(r.t.Size)]); err != nil {
			var at *columns.ElementError
			if errors.As(err, &at) {
				at.Index += int(done)
			}
			return dst, err
		}
		r.left = r.left[k*int64(r.t.Size):]
		done += k
	}
	return dst, nil
}

// fill reads on.
func (r *Reader) fill() error {
	n := copy(r.buf, r.left)
	for n < r.t.Size {
		k, err := r.r.Read(r.buf[n:])
		n += k
		switch {
		case n >= r.t.Size:
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
	r.left = r.buf[:n]
	return nil
}

// Int64s reads int64 values one after another.
type Int64s struct{ r *Reader }

// NewInt64s returns a reader of the int64 values that r gives.
func NewInt64s(r io.Reader) Int64s { return Int64s{NewReader(r, Type{8, true})} }

// Next returns the next value.
func (s Int64s) Next() (int64, error) {
	if len(s.r.left) < 8 {
		if err := s.r.fill(); err != nil {
			return 0, err
		}
	}
	v := int64(0)
	for i := range 8 {
		v |= int64(s.r.left[i]) << (8 * i)
	}
	s.r.left = s.r.left[8:]
	return v, nil
}

// String says what the integers are, such as uint16.
func (t Type) String() string {
	if t.Signed {
		return fmt.Sprintf("int%d", 8*t.Size)
	}
	return fmt.Sprintf("uint%d", 8*t.Size)
}
