// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

extension ContainerKey {
    /// Fails unless a request can name the container.
    package func check() throws(OperatorError) {
        guard Identifier.isContainer(container) else {
            throw OperatorError(
                .invalid, .container,
                "A container has 1 to \(Identifier.containerLength) letters, digits, '.' and '-'."
            )
        }
    }
}
