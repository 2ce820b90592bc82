package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// machineTime is what the processors of the machine have done since it started, and what this command's processes have.
type machineTime struct{ total, busy, own time.Duration }

// readMachineTime knows Linux only; elsewhere it is zero.
func readMachineTime() machineTime {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return machineTime{}
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var m machineTime
	for i, field := range strings.Fields(line) {
		ticks, _ := strconv.ParseInt(field, 10, 64)
		const user, idle, iowait, steal = 1, 4, 5, 8
		t := time.Duration(ticks) * 10 * time.Millisecond
		if i < user || i > steal {
			continue // the name; guests, who are in user already
		}
		m.total += t
		if i != idle && i != iowait {
			m.busy += t
		}
	}
	var children syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children) == nil {
		m.own = time.Duration(children.Utime.Nano() + children.Stime.Nano())
	}
	return m
}

// othersSince is the part of the machine that other programs have had since an earlier reading.
func (m machineTime) othersSince(before machineTime) float64 {
	if m.total <= before.total {
		return 0
	}
	return max(0, float64((m.busy-before.busy)-(m.own-before.own))/float64(m.total-before.total))
}
