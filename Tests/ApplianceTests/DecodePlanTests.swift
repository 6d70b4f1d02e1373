import Testing

@testable import Settings

@Suite("Decode plans") struct DecodePlanTests {
    @Test(
        "there are as many workers as cores, but at most 64, if the memory suffices",
        arguments: [
            (cores: 4, megabytes: 3_000, sharesModel: true, workers: 4),
            (cores: 4, megabytes: 540, sharesModel: true, workers: 3),
            (cores: 4, megabytes: 656, sharesModel: false, workers: 3),
            (cores: 4, megabytes: 556, sharesModel: false, workers: 2),
            (cores: 4, megabytes: 420, sharesModel: true, workers: 1),
            (cores: 1, megabytes: 8_000, sharesModel: true, workers: 1),
            (cores: 0, megabytes: 0, sharesModel: true, workers: 1),
            (cores: 128, megabytes: 100_000, sharesModel: true, workers: 64),
        ])
    func workers(cores: Int, megabytes: Int, sharesModel: Bool, workers: Int) {
        let plan = DecodePlan(cores: cores, memoryMegabytes: megabytes, sharesModel: sharesModel)
        #expect(plan.workers == workers)
    }

    @Test("a slow board uses the fast profile, and the plan says whether that keeps pace")
    func speed() {
        func plan(_ speed: Double, cores: Int = 4) -> DecodePlan {
            DecodePlan(cores: cores, memoryMegabytes: 4_000, liveSpeed: speed)
        }
        #expect(plan(6).profile == "live" && plan(6).keepsPace == true && plan(6).secondPass)
        #expect(plan(1.2).profile == "fast" && plan(1.2).keepsPace == true)
        #expect(plan(0.2, cores: 1).keepsPace == false && !plan(0.2, cores: 1).secondPass)
    }

    @Test("if the speed has not been measured, the plan makes no statement about pace")
    func unknownSpeed() {
        let plan = DecodePlan(cores: 4, memoryMegabytes: 4_000)
        #expect(plan.keepsPace == nil && plan.profile == "live" && plan.secondPass)
    }

    @Test("if the memory does not suffice for the model, there is no second pass")
    func littleMemory() {
        let plan = DecodePlan(cores: 4, memoryMegabytes: 436, liveSpeed: 5)
        #expect(!plan.secondPass && plan.workers == 1)
    }

    @Test("the plan depends on the engine's costs; a small board uses the faster profile, one worker and one pass")
    func costs() {
        var cost = EngineCost()
        (cost.firstMegabytes, cost.additionalMegabytes, cost.fasterProfile, cost.finalRatio) = (220, 90, "fast", 1)
        cost.smallBoardMegabytes = 700
        func plan(_ megabytes: Int, _ speed: Double?) -> DecodePlan {
            DecodePlan(cores: 4, memoryMegabytes: megabytes, liveSpeed: speed, cost: cost)
        }
        #expect(plan(430, nil).profile == "fast" && plan(430, 9).workers == 1 && !plan(430, 9).secondPass)
        #expect(plan(430, 2).keepsPace == true && plan(430, 0.5).keepsPace == false && plan(430, nil).keepsPace == nil)
        #expect(plan(720, nil).workers == 3 && plan(4_000, 9).workers == 4 && plan(4_000, nil).profile == "live")
        #expect(plan(4_000, 1.2).profile == "fast" && plan(4_000, 1.2).secondPass)
        cost.fasterProfile = nil
        #expect(plan(4_000, 0.5).profile == "live", "the engine has no other profile")
    }
}
