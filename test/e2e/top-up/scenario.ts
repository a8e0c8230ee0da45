import { onTestFinished } from 'vitest'
import type { Schemas } from '../../../src/contract/operations.ts'
import { type Anvil, ON_ANVIL, startAnvil } from '../../support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import {
  DEV_ADDRESSES,
  DEV_KEYS,
  plainSigner,
  type Service,
  type ServiceOptions,
  startService,
  type Transaction,
} from '../../support/service.ts'
import { until } from '../../support/until.ts'

/** An ether, in wei. */
export const ETHER = 10n ** 18n

/** The account that is filled. */
export const HOT = DEV_ADDRESSES[1]

/** The time between two looks at a relayer, in ms. */
const INTERVAL_MS = 30_000

/** The rule of relayer `hot`, as the file has it. */
export const RULE = {
  from: 'treasury',
  below: String(ETHER),
  to: String(2n * ETHER),
  max_per_day: String(5n * ETHER),
}

/** A service with the relayers `treasury` and `hot`, on an anvil that mines only when told. */
export interface TopUpStage {
  readonly anvil: Anvil
  readonly service: Service
  readonly clock: AdjustableClock
  mine(blocks?: number): Promise<void>
  setBalance(wei: bigint, address?: string): Promise<void>
  balance(): Promise<bigint>
  /** The transactions of the treasury, newest first. */
  paid(): Promise<Transaction[]>
  /** The state of the top-up of `hot`. */
  state(): Promise<Schemas['RelayerStatus']['top_up']>
  /** Lets time pass until the treasury has this many transactions, and gives them, newest first. */
  paysUntil(count: number): Promise<Transaction[]>
  /** Lets time pass until the state is this one. */
  becomes(state: string): Promise<Schemas['RelayerStatus']['top_up']>
  /** Lets time pass and mines until nothing of the treasury is open. */
  settle(): Promise<void>
}

/** Makes the configuration of both relayers. */
export function topUpConfig(hot: object = { top_up: RULE }, treasury: object = {}) {
  return {
    relayers: [
      { id: 'treasury', name: 'Treasury', signer_id: 'dev-0', ...ON_ANVIL, policies: treasury },
      { id: 'hot', name: 'Hot', signer_id: 'dev-1', ...ON_ANVIL, policies: hot },
    ],
    signers: [plainSigner('dev-0', DEV_KEYS[0]), plainSigner('dev-1', DEV_KEYS[1])],
  }
}

interface StageOptions extends Partial<ServiceOptions> {
  readonly hot?: object
  readonly treasury?: object
  /** The balance of `hot` at the start, in wei. Default: none. */
  readonly balance?: bigint
  /** The urls of the service. Default: that of anvil. */
  readonly urls?: (anvil: Anvil) => Promise<readonly string[]>
}

/** Starts anvil and the service, and ends both with the test. */
export async function startStage({
  hot,
  treasury,
  balance = 0n,
  urls,
  ...more
}: StageOptions = {}): Promise<TopUpStage> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  await anvil.rpc('anvil_setBalance', [HOT, hex(balance)])
  const clock = createAdjustableClock()
  const rpcUrls = (await urls?.(anvil)) ?? [anvil.url]
  const service = await startService({ rpcUrls, clock, ...topUpConfig(hot, treasury), ...more })
  onTestFinished(async () => {
    await service.stop()
    await anvil.stop()
  })
  return stageOf({ anvil, service, clock })
}

/** The words of a stage, for a service that was started otherwise. */
export function stageOf(parts: Pick<TopUpStage, 'anvil' | 'service' | 'clock'>): TopUpStage {
  const { anvil, service, clock } = parts
  const mine = async (blocks = 1) => {
    for (let count = 0; count < blocks; count += 1) await anvil.rpc('evm_mine')
  }
  const paid = async () =>
    (await service.api<Transaction[]>('GET', '/relayers/treasury/transactions?per_page=100')).body.data
  const state = async () =>
    (await service.api<Schemas['RelayerStatus']>('GET', '/relayers/hot/status')).body.data.top_up
  return {
    ...parts,
    mine,
    paid,
    state,
    setBalance: async (wei, address = HOT) => {
      await anvil.rpc('anvil_setBalance', [address, hex(wei)])
    },
    balance: async () => BigInt(await anvil.rpc<string>('eth_getBalance', [HOT, 'latest'])),
    paysUntil: (count) =>
      until(
        () => {
          clock.advance(INTERVAL_MS)
          return paid()
        },
        ({ length }) => length === count,
      ),
    becomes: (wanted) =>
      until(
        async () => {
          clock.advance(INTERVAL_MS)
          return state()
        },
        (seen) => seen?.state === wanted,
      ),
    settle: async () => {
      await until(
        async () => {
          await mine()
          clock.advance(1_000)
          return paid()
        },
        (seen) => seen.every(({ status }) => ['confirmed', 'failed', 'canceled', 'expired'].includes(status)),
      )
    },
  }
}

function hex(value: bigint): string {
  return `0x${value.toString(16)}`
}
