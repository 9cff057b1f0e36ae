package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// dataFolder is the folder of a server's snapshots and its log, in its folder.
const dataFolder = "version-2"

// Backup copies the data of a server that does not run to a folder, which must not exist.
func (s *Server) Backup(to string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil && s.process.Running() {
		return errors.New("rig: backup of a server that runs")
	}
	return s.CopyTransactionLog(to)
}

// CopyTransactionLog copies the server's log of transactions and its snapshots to a folder, which it makes. The server may
// run; then the newest transactions may be missing.
func (s *Server) CopyTransactionLog(to string) error {
	if err := os.CopyFS(to, os.DirFS(filepath.Join(s.dir, dataFolder))); err != nil {
		return fmt.Errorf("rig: copy the data: %w", err)
	}
	return nil
}

// Restore kills the server, puts the data of a backup in place of its own, and starts it again on its port. It waits
// until it serves. Without a backup, "", its data are gone: a new disk.
func (s *Server) Restore(ctx context.Context, backup string) error {
	if err := s.Kill(); err != nil {
		return err
	}
	data := filepath.Join(s.dir, dataFolder)
	if err := os.RemoveAll(data); err != nil {
		return fmt.Errorf("rig: wipe: %w", err)
	}
	if backup != "" {
		if err := os.CopyFS(data, os.DirFS(backup)); err != nil {
			return fmt.Errorf("rig: restore: %w", err)
		}
	}
	return s.serve(ctx)
}
