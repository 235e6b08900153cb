// SPDX-License-Identifier: Apache-2.0
import TidebellPush
import TestSupport

extension Planner {
    /// Has several pipelines run at the same time: while one stands still after a stage, the
    /// next one runs, and may stand still itself.
    ///
    /// Drawn after everything else, so that the other steps of a seed stay what they are.
    mutating func sharing(_ steps: [Step], among pipelines: Int) -> [Step] {
        steps.map { step in
            guard case .notify(nil) = step.action, dice.chance(70) else { return step }
            let beside = beside(1, of: pipelines)
            return Step(action: .notify(meanwhile: beside), death: step.death)
        }
    }

    private mutating func beside(_ pipeline: Int, of count: Int) -> Interjection {
        let stage = dice.pick(PassStep.allCases)
        var actions: [Action] = []
        if dice.chance(40) { actions.append(.leasesExpire) }
        if dice.chance(50) { actions.append(modification()) }
        let next = pipeline + 1 < count && dice.chance(70) ? beside(pipeline + 1, of: count) : nil
        actions.append(.notifyBeside(pipeline: pipeline, meanwhile: next))
        // What is committed and not published yet would be waited for.
        if pipeline == 1, stage != .committed, dice.chance(30) {
            actions.append(.read(streamer(), limit: .max, forgets: false))
        }
        return Interjection(after: stage, action: .several(actions))
    }
}
