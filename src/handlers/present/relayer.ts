import type { Schemas } from '../../contract/operations.ts'
import { omitUndefined } from '../../lib/omit-undefined.ts'
import type { Relayer } from '../../relayers/relayer.ts'
import { shownRelayer } from '../../relayers/shown-relayer.ts'
import type { RelayerRuntime } from '../../transactions/model/runtime.ts'

/** Converts a relayer to the form of the contract. A removed relayer has no runtime, so the answer lacks its channels. */
export function presentRelayer(
  relayer: Relayer,
  runtime: Pick<RelayerRuntime, 'sourceAccounts'> | undefined,
): Schemas['Relayer'] {
  const [, ...channels] = runtime?.sourceAccounts ?? []
  return omitUndefined({
    ...shownRelayer(relayer),
    channels: channels.length === 0 ? undefined : channels.map(({ address }) => address),
  })
}
