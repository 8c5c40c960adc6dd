package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// login returns SSH_CONNECTION of this process or, since sudo takes it away, of the nearest process above that has it.
// It is empty where nobody is logged in by SSH or the processes above cannot be read.
func login() string {
	if v := os.Getenv("SSH_CONNECTION"); v != "" {
		return v
	}
	for pid := os.Getppid(); pid > 1; pid = parent(pid) {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			return ""
		}
		for v := range bytes.SplitSeq(env, []byte{0}) {
			if value, ok := bytes.CutPrefix(v, []byte("SSH_CONNECTION=")); ok {
				return string(value)
			}
		}
	}
	return ""
}

// parent returns the parent of a process, and 0 if that cannot be told.
func parent(pid int) int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if value, ok := bytes.CutPrefix(line, []byte("PPid:")); ok {
			ppid, _ := strconv.Atoi(string(bytes.TrimSpace(value)))
			return ppid
		}
	}
	return 0
}
