// SPDX-License-Identifier: Apache-2.0
import TidebellPush
import TestSupport
import TidebellWire

extension Planner {
    /// Makes requests of changes, which are sent again now and then, and puts between the steps
    /// what happens to files, and what a pipeline does that runs by itself.
    ///
    /// Drawn after everything else, so that the other steps of a seed stay what they are.
    mutating func widened(_ steps: [Step]) -> [Step] {
        var all: [Step] = []
        for step in steps {
            all.append(Step(action: asRequest(step.action), death: step.death))
            guard dice.chance(60) else { continue }
            let action = wideAction()
            all.append(Step(action: action, death: dice.chance(15) ? death(in: action) : nil))
        }
        return all
    }

    private mutating func asRequest(_ action: Action) -> Action {
        switch action {
        case .modify, .createZones, .deleteZones, .subscribe, .unsubscribe:
            dice.chance(60) ? .request(action) : action
        default: action
        }
    }

    private mutating func wideAction() -> Action {
        switch dice.below(100) {
        case ..<40: return .again(request: dice.below(5))
        case ..<75:
            let edit = Edit(
                kind: .put, name: dice.pick(Names.records), owner: nil, group: dice.below(4))
            let fault: UploadFault? = dice.pick([nil, nil, nil, .cut, .twice, .late])
            var site = site()
            // Who may save what in the public database is not what a late save is about.
            if fault == .late { site = Site(scope: .private, zone: "red") }
            return .saveFile(writer(), site, edit, content: dice.pick(Names.contents), fault)
        case ..<82: return .loseFile(dice.below(20))
        default:
            return .listen(
                (0...dice.below(3)).map { _ in
                    WokenChange(action: modification(), isWakeUpLost: dice.chance(50))
                }
            )
        }
    }
}
