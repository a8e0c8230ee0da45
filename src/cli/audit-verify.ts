import { setTimeout } from 'node:timers/promises'
import type { StoredEntry } from '../audit/entry.ts'
import { type ChainProblem, type ChainReport, verifyEntries, verifyLog } from '../audit/verify.ts'
import { findConfig } from '../config/api-access.ts'
import type { Config } from '../config/types.ts'
import type { Schemas } from '../contract/operations.ts'
import { pendingMigrations } from '../database/migrate.ts'
import { type ApiClient, ApiFailure, createApiClient, queryOf } from './api/api-command.ts'
import { type Command, EXIT, type Terminal, UsageError } from './command.ts'
import { openUnlessServed } from './open-database.ts'

/** `relayer audit verify`. */
export const auditVerify: Command = {
  name: 'audit verify',
  summary: 'Check that no entry of the audit log was changed or removed.',
  usage: '[--head <chain>=<hash>[,<chain>=<hash>…]] [--json]',
  help: [
    'Computes the hash of every entry again, from the first to the last of each chain, and compares it with the stored one. The exit code is',
    '1 if something does not match; the output then names the first such entry of the chain.',
    '',
    '  --head  The hashes that an earlier run printed and that you kept elsewhere. The chain must still contain them. Without it, nothing',
    '          reveals that a whole chain was rewritten, including its end.',
    '  --json  Prints one JSON object with the chains, their numbers of entries, their newest hashes and their problems.',
    '',
    'Changes nothing. Reads the database of the configuration: the PostgreSQL server of DATABASE_URL, or the embedded database in DATA_DIR.',
    'While a service has the embedded database open, and on a machine without a configuration, the command reads the entries from the service at',
    'RELAYER_URL with the API key RELAYER_API_KEY (audit:read), or else the one of the configuration in this folder, and computes the hashes',
    'itself. It does not see the stored ends of the chains: pass --head to find entries that were removed at the end.',
    '',
    'Example: relayer audit verify --head management=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  ],
  options: ['head'],
  flags: ['json'],
  maxPositionals: 0,
  async run({ options, flags }, terminal) {
    const kept = readHeads(options.head)
    const config = findConfig()
    const reports = await verify(config, kept, terminal)
    if (flags.has('json')) terminal.out(JSON.stringify(toJson(reports)))
    else printReports(reports, terminal)
    return isWhole(reports) ? EXIT.ok : EXIT.failed
  },
}

async function verify(
  config: Config | undefined,
  kept: ReadonlyMap<string, string>,
  terminal: Terminal,
): Promise<ChainReport[]> {
  const database = await openUnlessServed(config)
  if (database === undefined) {
    if (config !== undefined)
      terminal.err('A service has the database open; reading its audit log over the API.')
    return verifyEntries(readOverApi(createApiClient()), kept)
  }
  try {
    if ((await pendingMigrations(database)).length > 0)
      throw new UsageError('The database lacks migrations of this release. Run: relayer migrate')
    return await verifyLog(database.db, kept)
  } finally {
    await database.close()
  }
}

/** The most that the service puts in one answer. */
const PER_PAGE = 100

/** Reads the whole log, newest first, without entries written during the read. */
async function* readOverApi(client: ApiClient): AsyncGenerator<StoredEntry> {
  for (let before: string | undefined; ; ) {
    const query = queryOf({ limit: `${PER_PAGE}`, before })
    const { data } = await readPatiently(client, `/audit${query}`)
    for (const entry of data) yield toStored(entry)
    before = data.at(-1)?.id
    if (before === undefined) return
  }
}

/** Time in ms until a key that used up its rate limit has some of it again: the limit is per second. */
const PAUSE_MS = 1_000

/** A long log takes more requests than one burst of a key's rate limit. */
async function readPatiently(client: ApiClient, path: string) {
  for (;;) {
    try {
      return await client.call<Schemas['AuditEntry'][]>('GET', path)
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.code !== 'rate_limited') throw error
      await setTimeout(PAUSE_MS)
    }
  }
}

function toStored({
  id,
  number,
  at,
  request_id,
  target_type,
  target_id,
  hash,
  ...same
}: Schemas['AuditEntry']) {
  return {
    ...same,
    number: BigInt(number),
    at: new Date(at),
    requestId: request_id,
    targetType: target_type,
    targetId: target_id,
    hash: Buffer.from(hash, 'hex'),
  }
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
  if (broken === 0) terminal.out(`${chains}: every entry matches`)
  else terminal.err(`${broken} of ${chains} do${broken === 1 ? 'es' : ''} not fit`)
}

function describe({ kind, entry }: ChainProblem): string {
  switch (kind) {
    case 'changed':
      return `entry ${entry} was changed, or an entry before it`
    case 'missing':
      return `entry ${entry} was removed`
    case 'head_changed':
      return `the stored end of the chain is not entry ${entry}`
    case 'appended':
      return `entry ${entry} was not written by the service`
    case 'rewritten':
      return `none of its ${entry} entries has the kept hash: the chain was rewritten`
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
