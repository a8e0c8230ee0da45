import { type ChainProblem, type ChainReport, verifyLog } from '../audit/verify.ts'
import { loadConfig } from '../config/load.ts'
import { pendingMigrations } from '../database/migrate.ts'
import { type Command, EXIT, type Terminal, UsageError } from './command.ts'
import { openForCommand } from './open-database.ts'

/** `relayer audit verify`. */
export const auditVerify: Command = {
  name: 'audit verify',
  summary: 'Check that no entry of the audit log was changed or removed.',
  usage: '[--head <chain>=<hash>[,<chain>=<hash>…]] [--json]',
  help: [
    'Computes the hash of every entry again, from the first to the last of each chain, and compares it with the stored one. The exit code is',
    '1 when something does not fit; the output then names the first entry of the chain that does not.',
    '',
    '  --head  The hashes that an earlier run printed and that you kept elsewhere. The chain must still contain them. Without it, somebody',
    '          who rewrites a whole chain, its end included, is not found out.',
    '  --json  Prints one JSON object with the chains, their numbers of entries, their newest hashes and their problems.',
    '',
    'Changes nothing. Uses the PostgreSQL server of DATABASE_URL while the service runs, or the embedded database in DATA_DIR while no service',
    'runs on it.',
    '',
    'Example: relayer audit verify --head management=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ],
  options: ['head'],
  flags: ['json'],
  maxPositionals: 0,
  async run({ options, flags }, terminal) {
    const kept = readHeads(options.head)
    const config = loadConfig()
    const database = await openForCommand(config, 'audit verify')
    try {
      if ((await pendingMigrations(database)).length > 0)
        throw new UsageError('The database is that of an earlier release. Run: relayer migrate')
      const reports = await verifyLog(database.db, kept)
      if (flags.has('json')) terminal.out(JSON.stringify(toJson(reports)))
      else printReports(reports, terminal)
      return isWhole(reports) ? EXIT.ok : EXIT.failed
    } finally {
      await database.close()
    }
  },
}

/** @throws UsageError for what is not a list of chains and hashes */
function readHeads(text: string | undefined): Map<string, string> {
  if (text === undefined) return new Map()
  return new Map(
    text.split(',').map((part) => {
      const [, chain, hash] = /^(.+)=([0-9a-f]{64})$/.exec(part.trim()) ?? []
      if (chain === undefined || hash === undefined)
        throw new UsageError(
          '--head: expected the name of a chain, "=" and 64 hex digits, as this command prints them; commas separate several.',
        )
      return [chain, hash]
    }),
  )
}

function isWhole(reports: readonly ChainReport[]): boolean {
  return reports.every(({ problem }) => problem === undefined)
}

function printReports(reports: readonly ChainReport[], terminal: Terminal): void {
  for (const { chain, entries, head, problem } of reports) {
    terminal.out(`${chain}  ${entries} ${entries === 1n ? 'entry' : 'entries'}  ${head}`)
    if (problem !== undefined) terminal.err(`${chain}: ${describe(problem)}`)
  }
  const broken = reports.filter(({ problem }) => problem !== undefined).length
  const chains = `${reports.length} chain${reports.length === 1 ? '' : 's'}`
  if (broken === 0) terminal.out(`${chains}: every entry fits`)
  else terminal.err(`${broken} of ${chains} do${broken === 1 ? 'es' : ''} not fit`)
}

function describe({ kind, entry }: ChainProblem): string {
  switch (kind) {
    case 'changed':
      return `entry ${entry} was changed, or what stood before it`
    case 'missing':
      return `entry ${entry} was removed`
    case 'head_changed':
      return `the stored end of the chain is not entry ${entry}`
    case 'appended':
      return `entry ${entry} was not written by the service`
    case 'rewritten':
      return `none of its ${entry} entries has the hash that you kept: the chain was rewritten`
  }
}

function toJson(reports: readonly ChainReport[]): object {
  return {
    ok: isWhole(reports),
    chains: reports.map(({ chain, entries, head, problem }) => ({
      chain,
      entries: Number(entries),
      head,
      ...(problem && { problem: { kind: problem.kind, entry: Number(problem.entry) } }),
    })),
  }
}
