package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/brimful/brimful/tokenstream/internal/words"
)

// Magic is what a file begins with.
const Magic = "\x93NUMPY"

// maxHeader is the longest header. NumPy itself refuses more than 10,000 bytes.
const maxHeader = 1 << 16

// An array is what a header says.
type array struct {
	t    words.Type
	flag bool  // of booleans
	flat bool  // it has one dimension
	rows int64 // of an array of two dimensions
	n    int64 // elements in all
	data int64 // where they begin
}

var (
	keys  = regexp.MustCompile(`'(descr|fortran_order|shape)'\s*:\s*('[^']*'|True|False|\([^)]*\))`)
	dtype = regexp.MustCompile(`^'([<=|>]?)([a-zA-Z])([0-9]+)'$`)
)

// parse reads the header of a file of the given size.
func parse(r io.ReaderAt, size int64) (a array, err error) {
	b := make([]byte, 12)
	n, err := r.ReadAt(b, 0)
	if n < 10 {
		if err == io.EOF {
			err = errors.New("the file ends within its header")
		}
		return a, err
	}
	if string(b[:6]) != Magic {
		return a, fmt.Errorf("it begins with %q: want %q", b[:6], Magic)
	}
	length := 0
	switch b[6] {
	case 1:
		length, a.data = int(binary.LittleEndian.Uint16(b[8:])), 10
	case 2, 3:
		length, a.data = int(min(binary.LittleEndian.Uint32(b[8:]), maxHeader+1)), 12
	default:
		return a, fmt.Errorf("version %d.%d: want 1.0, 2.0 or 3.0", b[6], b[7])
	}
	if length > maxHeader || a.data+int64(length) > size {
		return a, fmt.Errorf("a header of %d bytes: want at most %d, within the file", length, maxHeader)
	}
	text := make([]byte, length)
	if _, err := r.ReadAt(text, a.data); err != nil {
		return a, err
	}
	a.data += int64(length)
	found := map[string]string{}
	for _, m := range keys.FindAllStringSubmatch(string(text), -1) {
		found[m[1]] = m[2]
	}
	if found["fortran_order"] == "True" {
		return a, errors.New("fortran_order is True: want the elements of a row one after another")
	}
	if err := a.setType(found["descr"]); err != nil {
		return a, err
	}
	if err := a.setShape(found["shape"]); err != nil {
		return a, err
	}
	if want := a.data + a.n*int64(a.t.Size); want != size {
		return a, fmt.Errorf("the file has %d bytes: want %d for %d elements of %v", size, want, a.n, a.t)
	}
	return a, nil
}

// setType sets the type that descr names.
func (a *array) setType(descr string) error {
	m := dtype.FindStringSubmatch(descr)
	if m == nil {
		return fmt.Errorf("descr is %s: want the type of integers, such as '<i4'", descr)
	}
	size, err := strconv.Atoi(m[3])
	switch {
	case err != nil || size != 1 && size != 2 && size != 4 && size != 8, !strings.Contains("iub", m[2]), m[2] == "b" && size != 1:
		return fmt.Errorf("descr is %s: want integers of 1, 2, 4 or 8 bytes", descr)
	case m[1] == ">" && size > 1:
		return fmt.Errorf("descr is %s: want little-endian integers", descr)
	}
	a.t, a.flag = words.Type{Size: size, Signed: m[2] == "i"}, m[2] == "b"
	return nil
}

// setShape sets the sizes of an array of one or two dimensions.
func (a *array) setShape(shape string) error {
	text := strings.TrimSuffix(strings.TrimSpace(strings.Trim(shape, "()")), ",")
	dims := strings.Split(text, ",")
	if shape == "" || text == "" || len(dims) > 2 {
		return fmt.Errorf("shape is %s: want one or two dimensions", shape)
	}
	a.n, a.flat = 1, len(dims) == 1
	for i, d := range dims {
		n, err := strconv.ParseInt(strings.TrimSpace(d), 10, 64)
		if err != nil || n < 0 || n > 0 && a.n > math.MaxInt64/8/n {
			return fmt.Errorf("shape is %s: want sizes from 0 on, of a file that there can be", shape)
		}
		a.n *= n
		if !a.flat && i == 0 {
			a.rows = n
		}
	}
	if a.rows > 0 && a.n == 0 {
		return fmt.Errorf("shape is %s: want rows with at least 1 element", shape)
	}
	return nil
}
