package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const (
	structureRounds  = 15
	structurePackage = "./cache/resident"
	structureBench   = "BenchmarkRankBySize"
	structureGoal    = "≤ 3"
)

// measureStructure runs the benchmark of the structure that keeps a period in memory, without a server. It takes the go
// tool, and the folder of the project.
func (w *world) measureStructure(ctx context.Context, rep *report, log io.Writer) error {
	rounds := max(1, int(structureRounds*min(1, w.pace)))
	args := []string{"test", structurePackage, "-run", "^$", "-bench", "^" + structureBench + "$", "-benchtime", strconv.Itoa(rounds) + "x"}
	fmt.Fprintln(log, "go", strings.Join(args, " "))
	cmd := exec.CommandContext(ctx, "go", args...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	rep.boardless = true
	rows, err := structureRows(out)
	if err != nil {
		return err
	}
	for _, r := range rows {
		rep.add(r)
	}
	return nil
}

// structureRows reads the output of the benchmark: a line per mode with the nanoseconds that a rank takes in the smallest
// and the largest period, and the ratio of both.
func structureRows(out []byte) ([]row, error) {
	var rows []row
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		name, ok := strings.CutPrefix(lines.Text(), structureBench+"/")
		if !ok {
			continue
		}
		mode, _, _ := strings.Cut(strings.Fields(name)[0], "-")
		values := metricsIn(lines.Text())
		small, large, ratio := values["ns/rank-of-10000"], values["ns/rank-of-5000000"], values["ratio"]
		if small == 0 || large == 0 || ratio == 0 {
			return nil, fmt.Errorf("the benchmark says %q", lines.Text())
		}
		rows = append(rows, row{
			What: mode + " rank of a random member of 5,000,000", Here: inNanos(large), Yardstick: "of 10,000: " + inNanos(small),
			Ratio: ratio, Goal: structureGoal,
		})
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no line of %s in the output of the benchmark: %s", structureBench, out)
	}
	return rows, nil
}

func inNanos(ns float64) string {
	return fmt.Sprintf("%.2f µs", ns*float64(time.Nanosecond)/float64(time.Microsecond))
}

// metricsIn returns the pairs of value and unit of a line of a benchmark by unit.
func metricsIn(line string) map[string]float64 {
	fields := strings.Fields(line)
	values := map[string]float64{}
	for i := 2; i+1 < len(fields); i += 2 {
		if v, err := strconv.ParseFloat(fields[i], 64); err == nil {
			values[fields[i+1]] = v
		}
	}
	return values
}
