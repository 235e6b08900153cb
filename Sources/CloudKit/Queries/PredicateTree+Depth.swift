// SPDX-License-Identifier: Apache-2.0

extension PredicateTree {
    /// Returns whether the tree has at most so many levels, counted as archives count them:
    /// every compound, comparison, expression, and list in a value is one.
    func hasDepth(upTo levels: Int) -> Bool {
        guard levels > 0 else { return false }
        return switch self {
        case .constant: true
        case .comparison(let comparison):
            comparison.left.hasDepth(upTo: levels - 1)
                && comparison.right.hasDepth(upTo: levels - 1)
        case .and(let parts), .or(let parts):
            parts.allSatisfy { $0.hasDepth(upTo: levels - 1) }
        case .not(let part): part.hasDepth(upTo: levels - 1)
        }
    }
}

extension PredicateOperand {
    fileprivate func hasDepth(upTo levels: Int) -> Bool {
        guard levels > 0 else { return false }
        return switch self {
        case .keyPath, .itself, .variable: true
        case .value(let value): value.hasDepth(upTo: levels)
        case .list(let elements), .function(_, let elements):
            elements.allSatisfy { $0.hasDepth(upTo: levels - 1) }
        case .path(let source, _): source.hasDepth(upTo: levels - 1)
        case .subquery(let collection, _, let condition):
            collection.hasDepth(upTo: levels - 1) && condition.hasDepth(upTo: levels - 1)
        }
    }
}

extension PredicateValue {
    fileprivate func hasDepth(upTo levels: Int) -> Bool {
        guard levels > 0 else { return false }
        guard case .list(let elements) = self else { return true }
        return elements.allSatisfy { $0.hasDepth(upTo: levels - 1) }
    }
}
