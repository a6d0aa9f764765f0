package dataset

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// A journal is the record, in the stage, of the shards that are whole, one JSON line each. Its file is also the lock of the directory.
type journal struct {
	mu   sync.Mutex
	file *os.File
}

// Names in the stage.
const (
	journalName = "shards.jsonl"
	jobName     = "job.json"
	finalName   = "final" // what moves to the directory when the data set is finished, in its final shape
)

// openJournal opens or creates the stage and its journal for appending, for the job given.
func openJournal(stage string, job Job) (*journal, error) {
	if err := os.MkdirAll(stage, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(stage, journalName), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lock(file); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s is being written by another process: %w", filepath.Dir(stage), err)
	}
	b, err := json.MarshalIndent(job, "", "  ")
	if err == nil {
		err = writeFile(filepath.Join(stage, jobName), append(b, '\n'))
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return &journal{file: file}, nil
}

// add records a shard.
func (j *journal) add(s Shard) error {
	b, err := json.Marshal(s)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.Write(append(b, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

// close closes the file and with it releases the lock.
func (j *journal) close() error { return j.file.Close() }

// readJournal returns the shards that a stage records and that are still what it says, by their path.
func readJournal(stage string) (map[string]Shard, error) {
	file, err := os.Open(filepath.Join(stage, journalName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	shards := map[string]Shard{}
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var s Shard
		if json.Unmarshal(lines.Bytes(), &s) == nil { // the last line may be cut
			shards[s.Path] = s
		}
	}
	for p, s := range shards {
		if !s.intact(stage) {
			delete(shards, p)
		}
	}
	return shards, lines.Err()
}

// intact reports whether the file of s below dir is what s says.
func (s *Shard) intact(dir string) bool {
	if !filepath.IsLocal(filepath.FromSlash(s.Path)) {
		return false
	}
	size, sum, err := hashFile(filepath.Join(dir, filepath.FromSlash(s.Path)))
	return err == nil && size == s.Size && sum == s.SHA256
}
