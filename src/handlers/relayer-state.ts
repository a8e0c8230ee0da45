import type { Kysely } from 'kysely'
import type { Unit } from '../chains/chain.ts'
import type { HandlerMap, Schemas } from '../contract/operations.ts'
import type { Schema } from '../database/schema.ts'
import { AppError } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { omitUndefined } from '../lib/omit-undefined.ts'
import type { RelayerReader } from '../relayers/read.ts'
import type { Relayer } from '../relayers/relayer.ts'
import { type AccountState, fetchBalance, getAccountState } from '../transactions/account-state.ts'
import type { RelayerRuntime } from '../transactions/model/runtime.ts'
import { requireRelayer } from './transactions.ts'

export interface RelayerStateDeps {
  readonly db: Kysely<Schema>
  readonly clock: Clock
  readonly relayerOf: RelayerReader
  readonly runtimeOf: (relayer: Relayer) => RelayerRuntime
}

const UNITS: Record<Unit, Schemas['RelayerBalance']['unit']> = {
  wei: 'wei',
  stroops: 'stroop',
  lamports: 'lamport',
}

/** How the account of a relayer is doing. */
export function relayerStateHandlers(
  deps: RelayerStateDeps,
): Pick<HandlerMap, 'getRelayerStatus' | 'getRelayerBalance'> {
  const { clock, relayerOf, runtimeOf } = deps
  return {
    getRelayerStatus: async ({ path }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const state = await getAccountState(deps, relayer)
      return { data: presentState(relayer, state), logs: state.logs }
    },
    getRelayerBalance: async ({ path }) => {
      const relayer = await requireRelayer(relayerOf, path.relayer_id)
      const { chain } = runtimeOf(relayer)
      const balance = await fetchBalance(clock, { chain, address: relayer.address })
      if (balance.kind !== 'ok') throw unavailable(balance)
      return { data: { balance: balance.value, unit: UNITS[chain.unit] } }
    },
  }
}

function presentState(relayer: Relayer, state: AccountState): Schemas['RelayerStatus'] {
  const { balance, nextNonce, chainNonce, open, lastConfirmedAt } = state
  const { networkType } = relayer
  return omitUndefined({
    network_type: networkType,
    balance: balance?.toString(),
    nonce: networkType === 'evm' ? nextNonce?.toString() : undefined,
    // A ledger names the number that was used last.
    sequence_number:
      networkType === 'stellar' && chainNonce !== undefined ? String(chainNonce - 1n) : undefined,
    pending_transactions_count: open,
    last_confirmed_transaction_timestamp: lastConfirmedAt?.toISOString(),
    system_disabled: relayer.systemDisabled,
    paused: relayer.paused,
  })
}

function unavailable(cause: unknown): AppError {
  return new AppError('network_unavailable', 'No node of the network answers at present. Try again.', {
    cause,
  })
}
