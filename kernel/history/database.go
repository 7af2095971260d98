package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

const schema = `
CREATE TABLE IF NOT EXISTS sessions (session INTEGER PRIMARY KEY AUTOINCREMENT, start TIMESTAMP, "end" TIMESTAMP, num_cmds INTEGER, remark TEXT);
CREATE TABLE IF NOT EXISTS history (session INTEGER, line INTEGER, source TEXT, source_raw TEXT, PRIMARY KEY (session, line));
CREATE TABLE IF NOT EXISTS output_history (session INTEGER, line INTEGER, output TEXT, PRIMARY KEY (session, line));
`

// probe fails when the file holds tables of these names that are not ours.
const probe = `SELECT h.session, h.line, h.source, h.source_raw, o.output, s."end", s.num_cmds
FROM history h JOIN output_history o USING (session, line) JOIN sessions s USING (session) LIMIT 1`

// database is the open file and this kernel's session in it. Only the store's
// goroutine uses it.
type database struct {
	path    string // "" for memory
	log     *slog.Logger
	db      *sql.DB // nil until needed
	file    os.FileInfo
	session int64
	lines   int // inputs written
}

// ready opens the database if that has not happened, or happened to a file that
// is gone. It fails only when not even memory can hold a database.
func (d *database) ready() error {
	if d.db != nil && d.file != nil {
		now, err := os.Stat(d.path)
		if err == nil && os.SameFile(now, d.file) {
			return nil
		}
		d.log.Warn("the history file was removed or replaced; opening it again", "path", d.path)
		d.close()
	}
	if d.db != nil {
		return nil
	}
	if d.path != "" {
		err := d.openFile()
		if err == nil {
			return nil
		}
		d.log.Warn("cannot use the history file; this kernel's history is kept in memory", "path", d.path, "err", err)
		d.path = ""
	}
	return d.open("file::memory:")
}

// openFile opens the file at path. A corrupt one is looked at twice, because
// another kernel may just have moved it aside, and then moved aside.
func (d *database) openFile() error {
	if err := os.MkdirAll(filepath.Dir(d.path), 0o700); err != nil {
		return err
	}
	// Busy first: the pragmas after it may have to wait for another kernel.
	dsn := (&url.URL{Scheme: "file", Path: d.path}).String() +
		"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)"
	err := d.open(dsn)
	// Of kernels that make the file at the same moment all but one are told that it is
	// busy, at once: SQLite does not wait there, as two that wait would do so for ever.
	for end := time.Now().Add(patience); code(err) == lib.SQLITE_BUSY && time.Now().Before(end); err = d.open(dsn) {
		time.Sleep(20 * time.Millisecond)
	}
	if isCorrupt(err) {
		err = d.open(dsn)
	}
	if isCorrupt(err) {
		if err := d.moveAside(err); err != nil {
			return err
		}
		err = d.open(dsn)
	}
	if err != nil {
		return err
	}
	d.file, err = os.Stat(d.path)
	if err != nil {
		d.close()
	}
	return err
}

// patience is how long another kernel may keep the file to itself.
const patience = 5 * time.Second

func (d *database) moveAside(cause error) error {
	aside := fmt.Sprintf("%s.corrupt-%s", d.path, time.Now().UTC().Format("20060102T150405.000000"))
	if err := os.Rename(d.path, aside); err != nil {
		return fmt.Errorf("the history file is corrupt (%w) and cannot be moved aside; remove it: %w", cause, err)
	}
	for _, suffix := range []string{"-wal", "-shm"} { // they belong to the file that has gone
		if err := os.Rename(d.path+suffix, aside+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the history file's %s cannot be moved aside; remove it: %w", suffix, err)
		}
	}
	d.log.Warn("the history file was corrupt and has been moved aside; a new one is started", "path", d.path, "aside", aside, "err", cause)
	return nil
}

// errForeign is a database whose tables are not a history.
var errForeign = errors.New("the file is not a history; it will be moved aside")

func (d *database) open(dsn string) (err error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // a second connection to memory would be another memory
	defer func() {
		if err != nil {
			db.Close()
		}
	}()
	if _, err = db.Exec(schema); err != nil {
		return err
	}
	var rows *sql.Rows
	if rows, err = db.Query(probe); err == nil {
		err = rows.Close()
	} else if code(err) == lib.SQLITE_ERROR {
		err = errForeign
	}
	if err != nil {
		return err
	}
	res, err := db.Exec(`INSERT INTO sessions (start) VALUES (?)`, timestamp())
	if err != nil {
		return err
	}
	if d.session, err = res.LastInsertId(); err != nil {
		return err
	}
	d.db, d.lines = db, 0
	return nil
}

func (d *database) close() {
	if d.db == nil {
		return
	}
	if _, err := d.db.Exec(`UPDATE sessions SET "end" = ?, num_cmds = ? WHERE session = ?`, timestamp(), d.lines, d.session); err != nil {
		d.log.Debug("cannot note the end of the session in the history", "err", err)
	}
	if err := d.db.Close(); err != nil {
		d.log.Debug("cannot close the history file", "err", err)
	}
	d.db, d.file = nil, nil
}

// writeAll writes a batch, once more when the file turned out to be corrupt.
func (d *database) writeAll(batch []write) {
	err := d.ready()
	if err == nil {
		err = d.insert(batch)
	}
	if isCorrupt(err) {
		d.close()
		if err = d.ready(); err == nil {
			err = d.insert(batch)
		}
	}
	if err != nil {
		d.log.Warn("inputs were not kept in the history", "count", len(batch), "err", err)
	}
}

func (d *database) insert(batch []write) error {
	tx, err := d.db.BeginTx(context.Background(), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after Commit it does nothing
	lines := 0
	for _, w := range batch {
		if w.output != nil {
			_, err = tx.Exec(`INSERT OR REPLACE INTO output_history VALUES (?, ?, ?)`, d.session, w.line, *w.output)
		} else {
			_, err = tx.Exec(`INSERT OR REPLACE INTO history VALUES (?, ?, ?, ?)`, d.session, w.line, w.source, w.raw)
			lines++
		}
		if err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	d.lines += lines
	return nil
}

// answer asks the question, once more when the file turned out to be corrupt.
func (d *database) answer(ask func(*database) ([]Entry, error)) ([]Entry, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	entries, err := ask(d)
	if isCorrupt(err) {
		d.close()
		if err := d.ready(); err != nil {
			return nil, err
		}
		entries, err = ask(d)
	}
	return entries, err
}

func timestamp() string { return time.Now().UTC().Format("2006-01-02 15:04:05.000000") }

func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff // the low byte is the primary code
	}
	return 0
}

func isCorrupt(err error) bool {
	c := code(err)
	return c == lib.SQLITE_CORRUPT || c == lib.SQLITE_NOTADB || errors.Is(err, errForeign)
}
