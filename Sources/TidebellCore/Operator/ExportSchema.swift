// SPDX-License-Identifier: Apache-2.0
package import TidebellWire

/// Returns the schema of a container as a `.ckdb` file (web-services 7).
extension ExportSchema {
    /// Returns the file; that of a container which nobody used has the type of users alone.
    package static func run(
        _ container: ContainerKey, in reader: some SchemaReading
    ) throws -> String {
        try container.check()
        return SchemaText.of(try reader.schemaDefinition(of: container))
    }
}
