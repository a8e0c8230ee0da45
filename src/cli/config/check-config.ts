import { localUrl } from '../../config/api-access.ts'
import { loadConfig } from '../../config/load.ts'
import { parseFile, readText } from '../../config/sources.ts'
import type { Config } from '../../config/types.ts'
import { openDatabase } from '../../database/database.ts'
import { type Replication, readReplication } from '../../database/durability.ts'
import { AppError } from '../../errors.ts'
import { ConfigError } from '../../lib/fields.ts'
import { createLogger } from '../../log.ts'
import { configuredAccounts } from '../../relayers/accounts/accounts.ts'
import type { Key } from '../../signers/key.ts'
import { type LoadedSigners, loadKeys } from '../../signers/load.ts'
import { createKeyServices } from '../../signers/providers/connect.ts'
import { type Command, EXIT, type Terminal } from '../command.ts'
import { type Facts, PRODUCTION_CHECKLIST, type Result } from './production-checklist.ts'

/** `relayer check-config`. */
export const checkConfig: Command = {
  name: 'check-config',
  summary: 'Check the configuration and open every key, without starting anything.',
  usage: '[--production]',
  help: [
    'Reads the same settings as serve: CONFIG_DIR (default ./config), CONFIG_FILE_NAME (default config.json), the .env beside it, and',
    'the environment. Prints each relayer with its address, or one list of all problems. Connects to no network and no',
    'database. A key in a key service signs a text to prove that it works.',
    '',
    '  --production  Then walks docs/production-checklist.md: each line has passed, failed, or is one that a person checks, with how. The exit',
    '                code is 1 if a line failed.',
  ],
  options: [],
  flags: ['production'],
  maxPositionals: 0,
  async run({ flags }, terminal) {
    const config = loadConfig()
    const accounts = await configuredAccounts(config, await provenKeys(config))
    terminal.out(`${config.file} is valid.`)
    for (const { id, network } of config.relayers) {
      terminal.out(`  relayer ${id}: ${accounts.get(id)?.addresses[0]} on ${network}`)
    }
    if (!flags.has('production')) return EXIT.ok
    const document = parseFile(readText(config.file) ?? '', config.file, [])
    const replication = await readStandbys(config)
    return walkChecklist({ config, document, accounts, replication, cwd: process.cwd() }, terminal)
  },
}

/** Asks the PostgreSQL server about its standbys. A person does what it cannot answer. */
async function readStandbys({ database }: Config): Promise<Replication | undefined> {
  if (database.url === undefined) return undefined
  try {
    const opened = await openDatabase({ ...database, waitMs: 0 }, createLogger({ level: 'silent' }))
    return await readReplication(opened).finally(() => opened.close())
  } catch {
    return undefined
  }
}

/** Prints every line of the checklist with its result. Returns the exit code. */
function walkChecklist(facts: Facts, terminal: Terminal): number {
  const results = PRODUCTION_CHECKLIST.map((line) => ({ line, result: line.run(facts) }))
  for (const [section, lines] of Map.groupBy(results, ({ line }) => line.section)) {
    terminal.out('')
    terminal.out(section)
    for (const { line, result } of lines) {
      const what = result.state === 'passed' ? '' : `: ${result.what}`
      terminal.out(`  ${result.state.padEnd(STATE_WIDTH)}  ${line.title}${what}`)
    }
  }
  const count = (state: Result['state']) => results.filter(({ result }) => result.state === state).length
  terminal.out('')
  terminal.out(`${count('passed')} passed, ${count('failed')} failed, ${count('by hand')} to check by hand`)
  return count('failed') === 0 ? EXIT.ok : EXIT.failed
}

/** The length of the longest state. */
const STATE_WIDTH = 'by hand'.length

/** Opens every key. Those that other services hold prove that they sign. */
async function provenKeys(config: Config): Promise<Map<string, Key>> {
  const services = createKeyServices(config)
  try {
    const loaded = await loadKeys(config.signers, services.configured)
    return new Map([...loaded.keys, ...(await proveAll(loaded))])
  } finally {
    services.close()
  }
}

async function proveAll({ remote }: LoadedSigners): Promise<[string, Key][]> {
  const problems: string[] = []
  const proven: [string, Key][] = []
  for (const [id, { connection, answer }] of remote) {
    try {
      if (answer instanceof AppError) throw answer
      await connection.prove(answer)
      proven.push([id, connection.keyOf(answer)])
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      problems.push(error.detail)
    }
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return proven
}

/** A service that does not answer within this time, in ms, is not healthy. */
const TIMEOUT_MS = 3_000

/** `relayer health`. */
export const health: Command = {
  name: 'health',
  summary: 'Check that the service of this configuration runs, for container health checks.',
  usage: '',
  help: [
    'Calls GET /api/v1/health on the HOST and APP_PORT that serve listens on. Exits with 0 if the service answers, with 1 otherwise.',
  ],
  options: [],
  maxPositionals: 0,
  async run(_args, terminal) {
    const url = `${localUrl(loadConfig().server)}/api/v1/health`
    try {
      const { status } = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
      terminal.out(`${url} answered ${status}`)
      return status === 200 ? EXIT.ok : EXIT.failed
    } catch {
      terminal.err(`${url} does not answer`)
      return EXIT.failed
    }
  },
}
