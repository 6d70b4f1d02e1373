/// Measures the memory of one decode worker, and of two workers, which share the pages of the model.
struct MemoryBenchmark {
    /// All values are in megabytes.
    struct Result {
        /// Peak resident memory of one worker, including shared pages.
        var workerPeak: Double
        var oneWorker: Double
        /// Two workers together, counting shared pages once.
        var twoWorkers: Double
        /// The program together with its workers, counting shared pages once.
        var programAndWorkers: (oneWorker: Double, twoWorkers: Double)

        var ratio: Double { twoWorkers / oneWorker }
    }

    let harness: Harness
    let corpus: Corpus

    func run(_ contenders: [Contender]) throws {
        var table = Table(
            "memory, MB", "worker's peak", "one worker", "two workers together", "ratio", "with the program: one",
            "two", "ratio")
        for contender in contenders where !contender.isPeer {
            let memory = try measure(contender)
            let total = memory.programAndWorkers
            table.add([
                contender.name, formatted(memory.workerPeak, 0), formatted(memory.oneWorker, 0),
                formatted(memory.twoWorkers, 0),
                formatted(memory.ratio, 2), formatted(total.oneWorker, 0), formatted(total.twoWorkers, 0),
                formatted(total.twoWorkers / total.oneWorker, 2),
            ])
        }
        print(table.markdown)
    }

    /// Measures the memory while one reader's files are transcribed.
    func measure(_ contender: Contender) throws -> Result {
        let paths = corpus.items.filter { $0.group == "lj" }.map(\.path)
        let costs = try [1, 2].map { jobs in
            try harness.transcribe(
                paths, by: contender, jobs: jobs, into: "memory-\(contender.name)", samplingMemory: true
            ).cost
        }
        return Result(
            workerPeak: max(costs[0].peakWorkerMegabytes, costs[1].peakWorkerMegabytes),
            oneWorker: costs[0].peakWorkersMegabytes, twoWorkers: costs[1].peakWorkersMegabytes,
            programAndWorkers: (costs[0].peakTogetherMegabytes, costs[1].peakTogetherMegabytes))
    }
}
