// SPDX-License-Identifier: Apache-2.0
import TidebellCore
import TidebellPostgresClient

extension PostgresSchema {
    /// The directory: which cells there are, and where what is not where its number was given. Every database has these
    /// tables; the first cell's alone has rows in them, but for `departed`, which has those of its own cell.
    ///
    /// `cell` in `tidebell_schema` is the number of the cell that the database is, 0 where it is the first or the only
    /// one; `moves` counts what moves changed in the directory, and `switches` how often something came to another cell. A public database has 0 for its owner.
    static let cells = """
        ALTER TABLE tidebell_schema ADD COLUMN cell bigint NOT NULL DEFAULT 0;
        ALTER TABLE tidebell_schema ADD COLUMN moves bigint NOT NULL DEFAULT 0;
        ALTER TABLE tidebell_schema ADD COLUMN switches bigint NOT NULL DEFAULT 0;
        CREATE TABLE cell (
            number bigint PRIMARY KEY,
            name bytea NOT NULL UNIQUE,
            address bytea NOT NULL,
            takes_new bigint NOT NULL DEFAULT 1
        );
        CREATE TABLE cell_of_container (
            container bytea NOT NULL,
            environment bytea NOT NULL,
            cell bigint NOT NULL,
            PRIMARY KEY (container, environment)
        );
        CREATE TABLE cell_of_user (
            "user" bigint PRIMARY KEY,
            cell bigint NOT NULL
        );
        CREATE TABLE cell_of_number (
            kind bigint NOT NULL,
            number bigint NOT NULL,
            cell bigint NOT NULL,
            PRIMARY KEY (kind, number)
        );
        CREATE TABLE cell_move (
            owner bigint NOT NULL,
            container bytea NOT NULL,
            environment bytea NOT NULL,
            source bigint NOT NULL,
            target bigint NOT NULL,
            held bigint NOT NULL DEFAULT 0,
            switched bigint NOT NULL DEFAULT 0,
            PRIMARY KEY (owner, container, environment)
        );
        CREATE TABLE held_database (
            database bigint PRIMARY KEY
        );
        CREATE TABLE departed (
            owner bigint NOT NULL,
            container bytea NOT NULL,
            environment bytea NOT NULL,
            database bigint NOT NULL,
            PRIMARY KEY (owner, container, environment, database)
        );
        CREATE INDEX departed_database ON departed (database)
        """

    /// The first version whose code knows of cells as they are: sessions are in the cells of their accounts since, and what the
    /// directory says of containers is in all.
    static let firstWithCells: Int64 = 6
    /// The first version that kept logs and devices in the cells of their users: what it spread can be taken over.
    private static let firstWithUsersInCells: Int64 = 5
    /// The version that made the tables of cells, and left logs and devices in the first one.
    private static let firstWithCellTables: Int64 = 4

    /// Whether the tables of an older version are those of a cloud that is spread over cells, or of one of its cells. Fails
    /// where code before ``firstWithUsersInCells`` spread it: what is in its first cell would be looked for in the others.
    static func checkCells(
        ofVersion found: Int64, on connection: PostgresConnection
    ) throws -> Bool {
        guard found >= firstWithCellTables else { return false }
        var isSpread = false
        try connection.rows(
            "SELECT cell <> 0 OR EXISTS (SELECT 1 FROM cell) FROM tidebell_schema"
        ) { isSpread = $0.bool(0) }
        guard !isSpread || found >= firstWithUsersInCells else {
            throw StoreOpenError.unreachable(
                reason:
                    "it was spread over cells by a build that kept what devices are told in the first one, and cannot be taken "
                    + "over; serve it with that build")
        }
        return isSpread
    }

    /// The tables of ``cells``, which are no rows of a cloud.
    static let cellTables: Set = [
        "cell", "cell_of_container", "cell_of_user", "cell_of_number", "cell_move",
        "held_database", "departed",
    ]
}
