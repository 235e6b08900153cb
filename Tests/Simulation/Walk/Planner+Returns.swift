// SPDX-License-Identifier: Apache-2.0
import TidebellPush
import TestSupport

extension Planner {
    /// Puts between the steps what devices do that sync records, backups, and returns of the
    /// store to older moments.
    ///
    /// Drawn after everything else, so that the other steps of a seed stay what they are.
    mutating func returns(among steps: [Step]) -> [Step] {
        var all: [Step] = []
        for step in steps {
            all.append(backingUp(during: step))
            for _ in 0..<dice.below(3) {
                let action = syncOrReturn()
                all.append(Step(action: action, death: dice.chance(10) ? death(in: action) : nil))
            }
        }
        return all
    }

    /// Has a backup made while a pass is under way, now and then.
    private mutating func backingUp(during step: Step) -> Step {
        guard case .notify(nil) = step.action, dice.chance(15) else { return step }
        let backup = Interjection(after: dice.pick(PassStep.allCases), action: .backUp)
        return Step(action: .notify(meanwhile: backup), death: step.death)
    }

    private mutating func syncOrReturn() -> Action {
        let kind = dice.below(100)
        switch kind {
        case ..<40:
            let edit = Edit(
                kind: dice.chance(75) ? .put : .remove, name: dice.pick(Names.records), owner: nil,
                group: dice.below(4)
            )
            return .edit(streamer(), zone: dice.pick(Names.customZones), edit)
        case ..<60: return .send(streamer())
        case ..<80: return .fetch(streamer())
        case ..<87: return .backUp
        case ..<91: return .restore(backup: dice.below(3))
        case ..<93: return .putBack(backup: dice.below(3))
        default: return .cut(commits: dice.below(6), torn: dice.below(4096))
        }
    }
}
