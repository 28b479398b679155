// The C wrapper of Google Benchmark. An hp_bench_run is its State and the values that the benchmark
// reports during the run.

#include "programs/bench/bench.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdio>
#include <hpar/node.h>
#include <string>
#include <unistd.h>
#include <vector>

using benchmark_clock = std::chrono::steady_clock;

// With manual time, Google Benchmark repeats until the sum of the reported times reaches the
// minimum time. It ignores the time of the rest of each iteration. Therefore all rounds are one
// iteration for Google Benchmark, and the wrapper counts `rounds`.
struct hp_bench_run {
  benchmark::State &state;
  size_t bytes;
  bool manual;
  size_t rounds, most_rounds;
  double nanoseconds;
  benchmark_clock::time_point end;
};

namespace {

const size_t least_rounds = 3;
double round_seconds = 0;

bool next_round(hp_bench_run *run) {
  if (!run->rounds) {
    run->end = benchmark_clock::now() +
               std::chrono::duration_cast<benchmark_clock::duration>(std::chrono::duration<double>(round_seconds));
    if (!run->state.KeepRunning()) return false;
  } else if (run->rounds == run->most_rounds || (run->rounds >= least_rounds && benchmark_clock::now() >= run->end)) {
    double rounds = static_cast<double>(run->rounds);
    run->state.SetIterationTime(run->nanoseconds * 1e-9 / rounds);
    run->state.counters["rounds"] = rounds;
    return run->state.KeepRunning();
  }
  run->rounds++;
  return true;
}

} // namespace

void hp_bench_add(const hp_bench *bench) {
  hp_bench copy = *bench;
  auto *made = benchmark::RegisterBenchmark(bench->name, [copy](benchmark::State &state) {
    hp_bench_run run = {state, copy.bytes, copy.clock == HP_BENCH_MANUAL, 0, copy.iterations, 0, {}};
    copy.function(&run, &copy);
    if (!run.bytes) return;
    double bytes = static_cast<double>(run.bytes) * static_cast<double>(state.iterations());
    using benchmark::Counter; // SetBytesProcessed prints powers of 1024
    state.counters["bytes_per_second"] = Counter(bytes, Counter::kIsRate, Counter::OneK::kIs1000);
  });
  if (bench->clock == HP_BENCH_WALL) made->UseRealTime();
  if (bench->clock == HP_BENCH_MANUAL)
    made->UseManualTime()->Iterations(1);
  else if (bench->iterations)
    made->Iterations(static_cast<benchmark::IterationCount>(bench->iterations));
}

bool hp_bench_next(hp_bench_run *run) { return run->manual ? next_round(run) : run->state.KeepRunning(); }
bool hp_bench_next_batch(hp_bench_run *run, size_t count) {
  return run->state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count));
}
void hp_bench_took(hp_bench_run *run, uint64_t nanoseconds) { run->nanoseconds += static_cast<double>(nanoseconds); }
void hp_bench_bytes(hp_bench_run *run, size_t bytes) { run->bytes = bytes; }
void hp_bench_counter(hp_bench_run *run, const char *name, double value) { run->state.counters[name] = value; }
void hp_bench_fail(hp_bench_run *run, const char *why) { run->state.SkipWithError(why); }

namespace {

// Writes the table to standard output, and each repetition to a separate file.
class reporter : public benchmark::ConsoleReporter {
public:
  reporter(OutputOptions look, FILE *raw_file) : benchmark::ConsoleReporter(look), raw(raw_file) {
    if (raw) fputs("name\trepetition\titerations\tns\treal_ns\tcpu_ns\tbytes_per_second\tcounters\n", raw);
  }

  void ReportRuns(const std::vector<Run> &runs) override {
    for (const Run &run : runs) {
      if (run.error_occurred) failed = true;
      if (raw && !run.error_occurred && run.run_type == Run::RT_Iteration) write(run);
    }
    if (raw) fflush(raw);
    ConsoleReporter::ReportRuns(runs);
    fflush(stdout);
  }

  bool failed = false;

private:
  void write(const Run &run) {
    double count = run.iterations ? static_cast<double>(run.iterations) : 1;
    double real = run.real_accumulated_time * 1e9 / count, cpu = run.cpu_accumulated_time * 1e9 / count;
    double rate = 0, rounds = 0;
    std::string others;
    for (const auto &counter : run.counters) {
      char value[64];
      if (counter.first == "bytes_per_second") {
        rate = counter.second;
        continue;
      }
      if (counter.first == "rounds") {
        rounds = counter.second;
        continue;
      }
      snprintf(value, sizeof value, "%s=%.6g", counter.first.c_str(), static_cast<double>(counter.second));
      others += (others.empty() ? "" : ";") + std::string(value);
    }
    if (rounds > 0) {
      count = rounds;
      cpu /= rounds;
    }
    fprintf(raw, "%s\t%lld\t%.0f\t%.3f\t%.3f\t%.3f\t%.0f\t%s\n", run.benchmark_name().c_str(),
            static_cast<long long>(run.repetition_index < 0 ? 0 : run.repetition_index), count,
            run.run_name.time_type.empty() ? cpu : real, real, cpu, rate, others.c_str());
  }

  FILE *raw;
};

} // namespace

int hp_bench_run_all(const char *program, const hp_bench_plan *plan) {
  std::vector<std::string> words = {program, "--benchmark_min_time=" + std::to_string(plan->min_time),
                                    "--benchmark_repetitions=" + std::to_string(plan->repetitions)};
  if (plan->list) words.push_back("--benchmark_list_tests=true");
  if (plan->json) {
    words.push_back("--benchmark_out=" + std::string(plan->json));
    words.push_back("--benchmark_out_format=json");
  }
  std::vector<char *> arguments;
  for (std::string &word : words) arguments.push_back(&word[0]);
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  round_seconds = plan->min_time;
  benchmark::Initialize(&count, arguments.data());
  benchmark::AddCustomContext("hpar_version", HPAR_VERSION);
  benchmark::AddCustomContext("hpar_commit", plan->commit);
  benchmark::AddCustomContext("hpar_compiler", __VERSION__);
  benchmark::AddCustomContext("hpar_simd", plan->simd);

  FILE *raw = nullptr;
  if (plan->raw && !(raw = fopen(plan->raw, "w"))) {
    fprintf(stderr, "hpar-bench: %s: cannot be written\n", plan->raw);
    return 1;
  }
  bool terminal = isatty(STDOUT_FILENO);
  reporter report(terminal ? benchmark::ConsoleReporter::OO_Color : benchmark::ConsoleReporter::OO_None, raw);
  size_t ran = benchmark::RunSpecifiedBenchmarks(&report, plan->filter ? plan->filter : ".");
  benchmark::Shutdown();
  bool written = true;
  if (raw) {
    written = !ferror(raw);
    if (fclose(raw)) written = false;
  }
  if (!written) fprintf(stderr, "hpar-bench: %s: cannot be written\n", plan->raw);
  if (!ran) return 2;
  return report.failed || !written;
}
