import type { HandlerMap, Schemas } from '../contract/operations.ts'
import type { Db } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import { assertNever } from '../lib/assert-never.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'
import type { Clock } from '../lib/time/clock.ts'
import type { NetworkType } from '../networks/network.ts'
import type { RelayerReader } from '../relayers/read.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { type AccountState, fetchBalance, getAccountState } from '../transactions/account-state.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import type { TopUpState } from '../transactions/top-up/state.ts'
import { readTopUpState } from '../transactions/top-up/state-store.ts'
import { presentHead } from './present/head.ts'
import { presentUnit } from './present/unit.ts'
import { requireRelayer } from './transactions.ts'

/** The parts of the service that these operations call. */
export interface RelayerStateDeps {
  readonly db: Db
  readonly clock: Clock
  readonly relayerOf: RelayerReader
  readonly runtimeOf: (relayer: Relayer) => RelayerRuntime
}

/** The operations about the account of a relayer. */
export function relayerStateHandlers(
  deps: RelayerStateDeps,
): Pick<HandlerMap, 'getRelayerStatus' | 'getRelayerBalance'> {
  const { clock, relayerOf, runtimeOf } = deps
  return {
    getRelayerStatus: async ({ path }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const state = await getAccountState(deps, relayer)
      const topUp = relayer.policies.topUp && (await readTopUpState(deps.db, relayer.id))
      return { data: { ...presentState(relayer, state), ...presentTopUp(topUp) }, logs: state.logs }
    },
    getRelayerBalance: async ({ path }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { chain } = runtimeOf(relayer)
      const balance = await fetchBalance(clock, { chain, address: relayer.address })
      if (balance.kind !== 'ok') throw unavailable(balance)
      return { data: { balance: balance.value, unit: presentUnit(chain.unit) } }
    },
  }
}

function presentState(relayer: Relayer, state: AccountState): Schemas['RelayerStatus'] {
  const { balance, open, oldestOpenAt, lastConfirmedAt, head } = state
  return omitUndefined({
    network_type: relayer.networkType,
    balance: balance?.toString(),
    ...presentNumber(relayer.networkType, state),
    pending_transactions_count: open,
    oldest_pending_transaction_timestamp: oldestOpenAt?.toISOString(),
    last_confirmed_transaction_timestamp: lastConfirmedAt?.toISOString(),
    system_disabled: relayer.systemDisabled,
    paused: relayer.paused,
    network_head: head && presentHead(head),
  })
}

function presentTopUp(topUp: TopUpState | undefined): Pick<Schemas['RelayerStatus'], 'top_up'> {
  if (topUp === undefined) return {}
  const { state, code, transactionId, retryAt } = topUp
  return {
    top_up: omitUndefined({ state, code, transaction_id: transactionId, retry_at: retryAt?.toISOString() }),
  }
}

/** A nonce is the next number of an account; a sequence number is the one that the ledger has seen last. */
function presentNumber(type: NetworkType, { nextNonce, chainNonce }: AccountState) {
  switch (type) {
    case 'evm':
      return { nonce: nextNonce?.toString() }
    case 'stellar':
      return { sequence_number: chainNonce === undefined ? undefined : String(chainNonce - 1n) }
    case 'solana':
      return {}
    default:
      return assertNever(type)
  }
}

function unavailable(cause: unknown): AppError {
  return new AppError('network_unavailable', 'No node of the network answers at present. Try again.', {
    cause,
  })
}
