package cutstock

import "context"

// pollEvery is the number of steps between two looks at the context, some milliseconds.
const pollEvery = 1 << 22

// A meter counts the work done and says when to stop: for want of effort, which is deterministic, or because the context ended.
type meter struct {
	ctx     context.Context
	used    int64
	limit   int64
	polled  int64 // work when the context was last looked at
	aborted bool
}

// spend adds n steps and reports whether the work may go on.
func (m *meter) spend(n int) bool {
	m.used += int64(n)
	if m.used-m.polled >= pollEvery {
		m.polled = m.used
		if m.ctx.Err() != nil {
			m.aborted = true
		}
	}
	return !m.aborted && m.used < m.limit
}

// over reports whether the work has to stop.
func (m *meter) over() bool { return m.aborted || m.used >= m.limit }
