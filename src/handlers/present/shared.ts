import type { MessageSignature } from '../../chains/attempt.ts'
import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/object.ts'
import type { HeadState } from '../../networks/head-age.ts'
import { poolIdOf } from '../../relayers/accounts/pool.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { shownRelayer } from '../../relayers/relayer-codec.ts'
import type { RelayerRuntime } from '../../transactions/model/runtime.ts'

/** The most records in one page; a larger `per_page` counts as this. */
const MAX_PER_PAGE = 100

/** Computes the page of a query: `page` 0 is page 1, and `pagination` reports the applied values. */
export function toPage({ page = 1, per_page = 10 }: { page?: number; per_page?: number }) {
  const current_page = Math.max(1, page)
  const limit = Math.min(MAX_PER_PAGE, per_page)
  return {
    offset: (current_page - 1) * limit,
    limit,
    describe: (total: number): Schemas['Pagination'] => ({
      current_page,
      per_page: limit,
      total_items: total,
    }),
  }
}

/** Converts the newest head of a network to the form of the contract. */
export function presentHead({ number, ageMs, halted }: HeadState): Schemas['NetworkHead'] {
  return { block: number, age_seconds: Math.floor(ageMs / 1_000), halted }
}

/** Presents a signature without a transaction. */
export function presentMessageSignature({ publicKey, ...signature }: MessageSignature): Schemas['Signature'] {
  return omitUndefined({ ...signature, public_key: publicKey })
}

/**
 * Converts a relayer to the form of the contract. A removed relayer has no runtime, so its response has no
 * channels. `accounts` has those of a relayer with several, its own first.
 */
export function presentRelayer(
  relayer: Relayer,
  runtime: Pick<RelayerRuntime, 'sourceAccounts'> | undefined,
  accounts: readonly Relayer[] | undefined = undefined,
): Schemas['Relayer'] {
  const [, ...channels] = runtime?.sourceAccounts ?? []
  return omitUndefined({
    ...shownRelayer(relayer),
    id: poolIdOf(relayer.id),
    accounts: accounts?.map(presentAccount),
    channels: channels.length === 0 ? undefined : channels.map(({ address }) => address),
  })
}

/** Converts one account of a relayer with several. */
export function presentAccount(account: Relayer): Schemas['RelayerAccount'] {
  const { address, signerId, accountIndex = 0, disabledReason } = account
  return omitUndefined({
    address,
    signer_id: signerId,
    index: accountIndex,
    state: stateOf(account),
    disabled_reason: disabledReason,
  })
}

function stateOf({ systemDisabled, draining }: Relayer): Schemas['RelayerAccount']['state'] {
  if (draining === true) return 'draining'
  return systemDisabled ? 'disabled' : 'active'
}
