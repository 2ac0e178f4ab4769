package app

import (
	"maps"
	"math"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"leaderboard/features"
	"leaderboard/httpapi"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// metrics counts the work of the process. Label values come from small fixed sets, without names of boards and members, so that
// the number of series does not grow with the data.
type metrics struct {
	registry *prometheus.Registry
	auto     promauto.Factory // makes the metrics below, registered

	requests     *prometheus.CounterVec
	refusedConns prometheus.Counter
	latency      *prometheus.HistogramVec
	seen         atomic.Pointer[map[answered]answeredSeries] // replaced, never written to

	batchRequests, batchRows, writeWait prometheus.Histogram
	commits                             *prometheus.HistogramVec

	answers    map[leaderboard.Source]prometheus.Counter
	stale      prometheus.Counter
	rejections prometheus.Counter
	breaker    prometheus.Gauge

	watchRounds *prometheus.CounterVec

	residentPeriods, residentBytes prometheus.Gauge
	residentAnswers                prometheus.Counter
	residentLoads                  *prometheus.HistogramVec
	residentLeaves                 prometheus.Counter

	builds    *prometheus.HistogramVec
	runs      *prometheus.HistogramVec
	lateTicks prometheus.Counter

	standingsTold, standingsNone, standingsLate prometheus.Counter

	applyFailures prometheus.Counter
}

func newMetrics() *metrics {
	registry := prometheus.NewRegistry()
	m := &metrics{registry: registry, auto: promauto.With(registry)}
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.newBuildInfo()
	m.newRequests()
	m.newWrites()
	m.newStandings()
	m.newReads()
	m.newResident()
	m.newRefreshes()
	return m
}

// handler serves the metrics.
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry})
}

func (m *metrics) newBuildInfo() {
	info := ReadBuildInfo()
	m.auto.NewGauge(prometheus.GaugeOpts{
		Name: "leaderboard_build_info", Help: "1, with what the program was built from.",
		ConstLabels: prometheus.Labels{"version": info.Version, "revision": info.Commit, "go": info.Go},
	}).Set(1)
}

func (m *metrics) newRequests() {
	m.requests = m.auto.NewCounterVec(prometheus.CounterOpts{
		Name: "leaderboard_http_requests_total", Help: "Requests answered.",
	}, []string{"route", "method", "status"})
	m.latency = m.auto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "leaderboard_http_request_duration_seconds", Help: "Time from the head of a request to the end of its answer.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
	}, []string{"route", "method"})
	m.refusedConns = m.auto.NewCounter(prometheus.CounterOpts{
		Name: "leaderboard_http_connections_refused_total", Help: "Connections answered with 503 because there were too many; leaderboard_http_requests_total does not count them.",
	})
	m.seen.Store(&map[answered]answeredSeries{})
}

func (m *metrics) newWrites() {
	m.batchRequests = m.auto.NewHistogram(prometheus.HistogramOpts{
		Name: "leaderboard_commit_requests", Help: "Requests that one transaction committed together.",
		Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512},
	})
	m.batchRows = m.auto.NewHistogram(prometheus.HistogramOpts{
		Name: "leaderboard_commit_entries", Help: "Submitted entries that one transaction took.",
		Buckets: []float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000},
	})
	m.writeWait = m.auto.NewHistogram(prometheus.HistogramOpts{
		Name: "leaderboard_write_wait_seconds", Help: "How long the first request of a transaction waited for it to begin, about 7 seconds at most.",
		Buckets: []float64{.0001, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 7.5},
	})
	m.commits = m.auto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "leaderboard_commit_duration_seconds", Help: "Time of one transaction that writes scores, by outcome.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
	}, []string{"outcome"})
}

func (m *metrics) newStandings() {
	standings := m.auto.NewCounterVec(prometheus.CounterOpts{
		Name: "leaderboard_standings_total", Help: "Results of submits with standings=true. late: null, since no state with the commit was there within 50 ms; none: null, since the member is not ranked, or has another entry since, or is too deep for a dense rank.",
	}, []string{"result"})
	m.standingsTold, m.standingsNone, m.standingsLate = standings.WithLabelValues("told"), standings.WithLabelValues("none"), standings.WithLabelValues("late")
}

// StandingsShown implements httpapi.Observer.
func (m *metrics) StandingsShown(n httpapi.StandingCounts) {
	m.standingsTold.Add(float64(n.Told))
	m.standingsNone.Add(float64(n.None))
	m.standingsLate.Add(float64(n.Late))
}

func (m *metrics) newReads() {
	answers := m.auto.NewCounterVec(prometheus.CounterOpts{
		Name: "leaderboard_answers_total", Help: "Reading answers by the layer that they came from.",
	}, []string{"source"})
	m.answers = map[leaderboard.Source]prometheus.Counter{}
	for _, source := range []leaderboard.Source{leaderboard.SourceLocal, leaderboard.SourceRedis, leaderboard.SourceMySQL} {
		m.answers[source] = answers.WithLabelValues(string(source))
	}
	m.stale = m.auto.NewCounter(prometheus.CounterOpts{
		Name: "leaderboard_stale_answers_total", Help: "Answers that said stale:true because the database could not be asked for something newer; leaderboard_answers_total counts them too.",
	})
	m.rejections = m.auto.NewCounter(prometheus.CounterOpts{
		Name: "leaderboard_fallback_rejections_total", Help: "Reads refused because too many waited for MySQL already.",
	})
	m.breaker = m.auto.NewGauge(prometheus.GaugeOpts{
		Name: "leaderboard_redis_breaker_open", Help: "Servers of Redis that are left alone because they did not answer: 1 without a cluster.",
	})
	m.watchRounds = m.auto.NewCounterVec(prometheus.CounterOpts{
		Name: "leaderboard_watch_rounds_total", Help: "Questions to the database for the revisions of the periods that are read.",
	}, []string{"result"})
}

func (m *metrics) newResident() {
	m.residentPeriods = m.auto.NewGauge(prometheus.GaugeOpts{
		Name: "leaderboard_resident_periods", Help: "Periods kept whole in memory.",
	})
	m.residentBytes = m.auto.NewGauge(prometheus.GaugeOpts{
		Name: "leaderboard_resident_bytes", Help: "Memory that the periods kept whole take; --resident-memory is the most.",
	})
	m.residentAnswers = m.auto.NewCounter(prometheus.CounterOpts{
		Name: "leaderboard_resident_answers_total", Help: "Reading answers that a period in memory gave.",
	})
	m.residentLoads = m.auto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "leaderboard_resident_load_duration_seconds", Help: "Time that loading a period into memory took, by result.",
		Buckets: []float64{.001, .01, .1, .5, 1, 2.5, 5, 10, 30, 120},
	}, []string{"result"})
	m.residentLeaves = m.auto.NewCounter(prometheus.CounterOpts{
		Name: "leaderboard_resident_evictions_total", Help: "Periods that left the memory: for others, because they were not read, or because they were of no more use.",
	})
}

// PeriodsHeld implements resident.Observer.
func (m *metrics) PeriodsHeld(periods int, bytes int64) {
	m.residentPeriods.Set(float64(periods))
	m.residentBytes.Set(float64(bytes))
}

// PeriodLeft implements resident.Observer.
func (m *metrics) PeriodLeft() { m.residentLeaves.Inc() }

// PeriodLoaded implements resident.Observer.
func (m *metrics) PeriodLoaded(_ int64, took time.Duration, err error) {
	m.residentLoads.WithLabelValues(features.Outcome(err)).Observe(took.Seconds())
}

func (m *metrics) newRefreshes() {
	seconds := []float64{.001, .005, .01, .05, .1, .5, 1, 5, 30, 120}
	m.builds = m.auto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "leaderboard_rebuild_duration_seconds", Help: "Full rebuilds of a Redis copy that this process made, by outcome.", Buckets: seconds,
	}, []string{"outcome"})
	m.runs = m.auto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "leaderboard_run_duration_seconds", Help: "Refreshes of a copy, by kind, reason and final state.", Buckets: seconds,
	}, []string{"kind", "reason", "state"})
	m.applyFailures = m.auto.NewCounter(prometheus.CounterOpts{
		Name: "leaderboard_copy_apply_failures_total", Help: "Times that a Redis copy could not be brought up to date after a commit; it is tried again, and not read meanwhile.",
	})
	m.lateTicks = m.auto.NewCounter(prometheus.CounterOpts{
		Name: "leaderboard_refresh_late_ticks_total", Help: "Ticks of cron expressions of boards that were passed over because the refresh of the one before had not ended.",
	})
}

// watchLag publishes how far the write-through copies are behind the commits of this process, at worst.
func (m *metrics) watchLag(lag func() (seq int64, behind time.Duration)) {
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_copy_lag_seq", Help: "Changes that the Redis copy furthest behind has still to take over.",
	}, func() float64 { seq, _ := lag(); return float64(seq) })
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_copy_lag_seconds", Help: "Age of the oldest commit that a Redis copy has still to take over.",
	}, func() float64 { _, behind := lag(); return behind.Seconds() })
}

// watchLog publishes size and age of the change log: NaN while they are not known.
func (m *metrics) watchLog(size func() (changes int64, overdue time.Duration, known bool)) {
	told := func(value func(changes int64, overdue time.Duration) float64) func() float64 {
		return func() float64 {
			changes, overdue, known := size()
			if !known {
				return math.NaN()
			}
			return value(changes, overdue)
		}
	}
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_change_log_changes", Help: "Changes that the change log has, of all periods, as this server's housekeeping last found it.",
	}, told(func(changes int64, _ time.Duration) float64 { return float64(changes) }))
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_change_log_overdue_seconds", Help: "How much older than --change-ttl the oldest of them is.",
	}, told(func(_ int64, overdue time.Duration) float64 { return overdue.Seconds() }))
}

// watchPurge publishes how many rows of deleted boards and given-up periods are left to delete.
func (m *metrics) watchPurge(left func() leaderboard.Purge) {
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_purge_boards", Help: "Deleted boards whose rows are still being deleted, as this server's housekeeping last found it.",
	}, func() float64 { return float64(left().Boards) })
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_purge_entries", Help: "Entries that are left to delete of deleted boards and of periods that are given up.",
	}, func() float64 { return float64(left().Entries) })
}

// watchReads publishes the transactions that answers took.
func (m *metrics) watchReads(s *store.Store) {
	m.auto.NewCounterFunc(prometheus.CounterOpts{
		Name: "leaderboard_read_transactions_total", Help: "Transactions in MySQL that reading answers took; one may be for the questions of many requests.",
	}, func() float64 { return float64(s.Entries.Reads().Transactions) })
	m.auto.NewCounterFunc(prometheus.CounterOpts{
		Name: "leaderboard_read_scans_total", Help: "Transactions of leaderboard_read_transactions_total that counted ranks by scanning, because the rank index of a large period was not ready.",
	}, func() float64 { return float64(s.Entries.Reads().Scans) })
	m.auto.NewCounterFunc(prometheus.CounterOpts{
		Name: "leaderboard_read_repeats_total", Help: "Transactions of leaderboard_read_transactions_total that were in vain, because the period changed faster than its rank index followed; two more follow at most.",
	}, func() float64 { return float64(s.Entries.Reads().Repeats) })
}

// watchAge publishes how long ago the database last answered the feed.
func (m *metrics) watchAge(age func() time.Duration) {
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_watch_age_seconds", Help: "Time since the database last gave the revisions of the periods that are read; grows while there are no reads.",
	}, func() float64 { return age().Seconds() })
}

// watchRules publishes how many boards have a rule that this server does not know.
func (m *metrics) watchRules(count func() int) {
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_boards_unknown_rule", Help: "Boards with a rule that this server does not know, of a newer version or with a time zone that its machine lacks, or derived of such a board: it takes no submissions to them.",
	}, func() float64 { return float64(count()) })
}

// watchStreams publishes how many streams are open.
func (m *metrics) watchStreams(open func() int) {
	m.auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "leaderboard_streams_open", Help: "Streams that are open.",
	}, func() float64 { return float64(open()) })
}

// RoundEnded implements feed.Observer.
func (m *metrics) RoundEnded(_ int, _ time.Duration, err error) {
	result := "ok"
	if err != nil {
		result = "failed"
	}
	m.watchRounds.WithLabelValues(result).Inc()
}

// answered is the labels of a request.
type answered struct {
	route, method string
	status        int
}

// answeredSeries are the series of requests with the same labels.
type answeredSeries struct {
	requests prometheus.Counter
	latency  prometheus.Observer
}

// ConnectionRefused implements httpapi.Observer.
func (m *metrics) ConnectionRefused() { m.refusedConns.Inc() }

// RequestAnswered implements httpapi.Observer. Series are looked up by labels once, since each look-up takes locks that all cores share.
func (m *metrics) RequestAnswered(r httpapi.RequestInfo) {
	key := answered{r.Route, r.Method, r.Status}
	seen := m.seen.Load()
	s, ok := (*seen)[key]
	if !ok {
		s = answeredSeries{m.requests.WithLabelValues(r.Route, r.Method, strconv.Itoa(r.Status)), m.latency.WithLabelValues(r.Route, r.Method)}
		more := maps.Clone(*seen)
		more[key] = s
		m.seen.CompareAndSwap(seen, &more) // if another request has swapped it, the next one with these labels tries again
	}
	s.requests.Inc()
	if r.Route != streamRoute {
		s.latency.Observe(r.Took.Seconds())
	}
}

// streamRoute is of answers that last for as long as the client likes.
const streamRoute = "/v1/boards/{board}/stream"

// BatchEnded implements store.Observer.
func (m *metrics) BatchEnded(requests, rows int, waited, took time.Duration, err error) {
	m.batchRequests.Observe(float64(requests))
	m.batchRows.Observe(float64(rows))
	m.writeWait.Observe(waited.Seconds())
	m.commits.WithLabelValues(features.Outcome(err)).Observe(took.Seconds())
}

// MemoryAnswered implements cache.Observer.
func (m *metrics) MemoryAnswered() { m.residentAnswers.Inc() }

// FallbackRefused implements cache.Observer.
func (m *metrics) FallbackRefused() { m.rejections.Inc() }

// AnswerGiven implements cache.Observer.
func (m *metrics) AnswerGiven(source leaderboard.Source, stale bool) {
	if c, ok := m.answers[source]; ok {
		c.Inc()
	}
	if stale {
		m.stale.Inc()
	}
}

// BreakerTurned implements cache.Observer.
func (m *metrics) BreakerTurned(_ string, open bool) {
	if open {
		m.breaker.Inc()
	} else {
		m.breaker.Dec()
	}
}

// ApplyFailed implements topn.Observer.
func (m *metrics) ApplyFailed() { m.applyFailures.Inc() }

// CopyBuilt implements topn.Observer.
func (m *metrics) CopyBuilt(_ leaderboard.PeriodRef, o leaderboard.CopyOutcome, took time.Duration, err error) {
	outcome := features.Outcome(err)
	if o.Refused {
		outcome = "refused"
	}
	m.builds.WithLabelValues(outcome).Observe(took.Seconds())
}

// TickPassedOver implements refresher.Observer.
func (m *metrics) TickPassedOver() { m.lateTicks.Inc() }

// RunEnded implements refresher.Observer.
func (m *metrics) RunEnded(r leaderboard.Run) {
	m.runs.WithLabelValues(string(r.Kind), string(r.Reason), string(r.State)).Observe(r.Took.Seconds())
}
