package arrow_test

import (
	"bytes"
	"fmt"
	"log"
	"os"

	"github.com/brimful/brimful/tokenstream"
	"github.com/brimful/brimful/tokenstream/arrow"
)

func ExampleNewWriter() {
	var stream bytes.Buffer
	w, err := arrow.NewWriter(&stream, tokenstream.HF, arrow.Options{Form: arrow.Stream})
	if err != nil {
		log.Fatal(err)
	}
	row := &tokenstream.Batch{
		Tokens:   []int32{11, 12, 13, 21, 22},
		Labels:   []int32{-100, 12, 13, -100, 22},
		Segments: []tokenstream.Segment{{Sample: 0, Length: 3}, {Sample: 1, Length: 2}},
	}
	if err := w.Write(row); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("% x", stream.Bytes()[:4])
	// Output: ff ff ff ff
}

func ExampleRead() {
	file, err := os.Open("testdata/polars-file.arrow")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	samples, tokens := 0, 0
	for sample, err := range arrow.Read(file, arrow.ReadOptions{Name: file.Name()}) {
		if err != nil {
			log.Fatal(err)
		}
		samples++
		tokens += len(sample.Tokens)
	}
	fmt.Println(samples, "samples of", tokens, "tokens")
	// Output: 30 samples of 287 tokens
}

func ExampleHFSplits() {
	splits, err := arrow.HFSplits(os.DirFS("testdata/hf-dict"))
	if err != nil {
		log.Fatal(err)
	}
	for _, split := range splits {
		fmt.Println(split.Name, split.Files)
	}
	// Output:
	// train [train/data-00000-of-00001.arrow]
	// validation [validation/data-00000-of-00001.arrow]
}
