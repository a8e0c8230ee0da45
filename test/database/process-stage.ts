import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { startPostgres } from '../support/postgres.ts'
import { type ServiceProcess, startProcess } from '../support/process.ts'

/** The phrase of the accounts that anvil gives money at its start. */
const PHRASE = 'test test test test test test test test test test test junk'

/** Processes of the service on one PostgreSQL and one chain. Each has the signer `seed`, whose first accounts have money. */
export interface ProcessStage {
  readonly anvil: Anvil
  readonly database: pg.Client
  /** Starts one more with this configuration besides the signer. */
  start(
    config: { readonly networks: readonly object[]; readonly relayers: readonly object[] },
    options?: Pick<Parameters<typeof startProcess>[0], 'env' | 'onLine'>,
  ): Promise<ServiceProcess>
  /** Kills all processes and ends the rest. */
  stop(): Promise<void>
}

/** Starts the chain, with a block every 0.2 s, and the database. `accounts`: how many have money. */
export async function startProcessStage(accounts: number): Promise<ProcessStage> {
  const anvil = await startAnvil({ args: ['--accounts', `${accounts}`, '--block-time', '0.2'] })
  const postgres = await startPostgres()
  const databaseUrl = await postgres.createDatabase()
  const database = new pg.Client({ connectionString: databaseUrl })
  await database.connect()
  const folder = await mkdtemp(join(tmpdir(), 'relayer-processes-'))
  const processes: ServiceProcess[] = []
  return {
    anvil,
    database,
    start: async (config, { env, onLine } = {}) => {
      const process = await startProcess({
        rpcUrl: anvil.url,
        folder: join(folder, `${processes.length}`),
        config: {
          ...config,
          signers: [{ id: 'seed', type: 'mnemonic', config: { mnemonic: { type: 'plain', value: PHRASE } } }],
        },
        env: { DATABASE_URL: databaseUrl, ...env },
        ...(onLine && { onLine }),
      })
      processes.push(process)
      return process
    },
    stop: async () => {
      for (const process of processes) await process.kill()
      await database.end()
      await postgres.stop()
      await anvil.stop()
      await rm(folder, { recursive: true })
    },
  }
}
