package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// tokenizer is what the command knows of a tokenizer.json.
type tokenizer struct {
	Path     string `json:"path"`
	SHA256   string `json:"sha256"`
	Size     int    `json:"size"` // the largest id and one
	EOSToken string `json:"eos_token,omitempty"`
	EOS      *int32 `json:"eos,omitempty"`

	texts map[int32]string
}

// openTokenizer reads a tokenizer.json, and the name of the end-of-sequence token from the tokenizer_config.json beside it, if there is
// one.
func openTokenizer(path string) (*tokenizer, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var file struct {
		AddedTokens []struct {
			ID      int32  `json:"id"`
			Content string `json:"content"`
		} `json:"added_tokens"`
		Model struct {
			Vocab json.RawMessage `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(b, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	sum := sha256.Sum256(b)
	t := &tokenizer{Path: path, SHA256: hex.EncodeToString(sum[:]), texts: map[int32]string{}}
	var byText map[string]int32
	var scored [][2]json.RawMessage // unigram models list pairs of text and score
	switch {
	case len(file.Model.Vocab) == 0:
	case json.Unmarshal(file.Model.Vocab, &byText) == nil:
		for text, id := range byText {
			t.texts[id] = text
		}
	case json.Unmarshal(file.Model.Vocab, &scored) == nil:
		for id, pair := range scored {
			var text string
			if json.Unmarshal(pair[0], &text) == nil {
				t.texts[int32(id)] = text
			}
		}
	default:
		return nil, fmt.Errorf("%s: model.vocab is neither an object nor a list of pairs", path)
	}
	for _, a := range file.AddedTokens {
		t.texts[a.ID] = a.Content
	}
	for id := range t.texts {
		t.Size = max(t.Size, int(id)+1)
	}
	if t.Size == 0 {
		return nil, fmt.Errorf("%s: no vocabulary in it: want the tokenizer.json of a fast tokenizer", path)
	}
	t.EOSToken = eosToken(filepath.Join(filepath.Dir(path), "tokenizer_config.json"))
	for id, text := range t.texts {
		if text == t.EOSToken && text != "" {
			t.EOS = &id
		}
	}
	return t, nil
}

// eosToken returns the eos_token of a tokenizer_config.json, or "".
func eosToken(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	var config struct {
		EOS json.RawMessage `json:"eos_token"`
	}
	if json.Unmarshal(b, &config) != nil {
		return ""
	}
	var text string
	var object struct {
		Content string `json:"content"`
	}
	if json.Unmarshal(config.EOS, &text) == nil {
		return text
	}
	if json.Unmarshal(config.EOS, &object) == nil {
		return object.Content
	}
	return ""
}
