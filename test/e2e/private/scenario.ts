import { rm } from 'node:fs/promises'
import { type Anvil, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { createDataDir } from '../../support/data-dir.ts'
import { type PrivateEndpoint, startPrivateEndpoint } from '../../support/private-endpoint.ts'
import { type Scenario, scenarioOf } from '../../support/scenario.ts'
import { RECEIVER, startService } from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** A service whose relayer `main` is private, on an anvil that mines only when told. */
export interface PrivateScenario extends Scenario {
  readonly clock: AdjustableClock
  readonly endpoint: PrivateEndpoint
  /** Stops the service and starts it again on the same data. */
  restart(): Promise<PrivateScenario>
  /** Resolves when the private endpoint has got bytes this many times. */
  handedOver(count: number): Promise<void>
  /** Mines a block, and resolves when the service has seen it: it records what a relayer that is not private has in it. */
  mineAndWatch(): Promise<void>
  /** The transactions in the pool of the ordinary node. */
  publicCount(): Promise<number>
}

interface PrivateOptions {
  readonly policies?: object
  /** The private endpoints of the file. Default: the one of the scenario. */
  readonly privateRpcUrls?: (endpoint: PrivateEndpoint) => readonly unknown[]
}

/** Starts all of it. */
export async function startPrivateScenario(options: PrivateOptions = {}): Promise<PrivateScenario> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  const endpoint = await startPrivateEndpoint()
  const dataDir = await createDataDir()
  const scenario = await open(options, { anvil, endpoint, dataDir, clock: createAdjustableClock() })
  await scenario.mine(2)
  return scenario
}

interface Parts {
  readonly anvil: Anvil
  readonly endpoint: PrivateEndpoint
  readonly dataDir: string
  readonly clock: AdjustableClock
}

async function open(options: PrivateOptions, parts: Parts): Promise<PrivateScenario> {
  const { anvil, endpoint, dataDir, clock } = parts
  const privateRpcUrls = options.privateRpcUrls?.(endpoint) ?? [endpoint.url]
  const service = await startService({
    rpcUrls: [anvil.url],
    dataDir,
    clock,
    network: { private_rpc_urls: privateRpcUrls },
    relayers: [
      {
        id: 'main',
        name: 'Main',
        signer_id: 'dev-0',
        policies: { private_transactions: true, ...options.policies },
        api_may_relax: true,
        ...ON_ANVIL,
      },
      { id: 'public', name: 'Public', signer_id: 'dev-1', ...ON_ANVIL },
    ],
    // Clocks of stories jump while nodes are asked.
    env: { RELAYER_ALLOW_PRIVATE_URLS: 'true', RPC_TIMEOUT_MS: '600000' },
  })
  const scenario = scenarioOf(anvil, service)
  return {
    ...scenario,
    mineAndWatch: async () => {
      const path = '/relayers/public/transactions'
      const { body } = await service.api('POST', path, { to: RECEIVER, value: 1 })
      const reach = (status: string) =>
        until(
          async () => (await service.api('GET', `${path}/${body.data.id}`)).body.data.status,
          (seen) => seen === status,
        )
      await reach('submitted')
      await scenario.mine()
      await reach('mined')
    },
    clock,
    endpoint,
    restart: async () => {
      await service.stop()
      return open(options, parts)
    },
    handedOver: async (count) => {
      await until(
        async () => endpoint.raws.length,
        (seen) => seen >= count,
      )
    },
    publicCount: async () => {
      const { pending, queued } = await anvil.rpc<{ pending: string; queued: string }>('txpool_status')
      return Number(pending) + Number(queued)
    },
    stop: async () => {
      await service.stop()
      await endpoint.stop()
      await anvil.stop()
      await rm(dataDir, { recursive: true })
    },
  }
}
