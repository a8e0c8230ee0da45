import { type Anvil, startAnvil } from '../support/anvil.ts'
import { startPostgres } from '../support/postgres.ts'
import { type Service, type ServiceOptions, startService } from '../support/service.ts'

/** Two services on one PostgreSQL, and an anvil that mines only when told. */
export interface ServicePair {
  readonly anvil: Anvil
  readonly databaseUrl: string
  readonly services: readonly [Service, Service]
  stop(): Promise<void>
}

/** Starts them, one after the other. `rpcUrls`: the anvil by default. */
export async function startServicePair(options: Partial<ServiceOptions> = {}): Promise<ServicePair> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  const postgres = await startPostgres()
  const databaseUrl = await postgres.createDatabase()
  const start = () => startService({ rpcUrls: [anvil.url], databaseUrl, ...options })
  const services = [await start(), await start()] as const
  return {
    anvil,
    databaseUrl,
    services,
    stop: async () => {
      for (const service of services) await service.stop()
      await postgres.stop()
      await anvil.stop()
    },
  }
}
