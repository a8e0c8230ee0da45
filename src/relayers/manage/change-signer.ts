import type { Tx } from '../../database/schema.ts'
import { AppError } from '../../errors.ts'
import type { Network } from '../../networks/network.ts'
import { lockSigner } from '../../signers/store.ts'
import type { Relayer, RelayerConfig } from '../relayer.ts'
import type { ManageContext } from './context.ts'
import { findAccounts, signerNotFound } from './find-accounts.ts'

interface Handover {
  readonly present: Relayer
  readonly wanted: RelayerConfig
  readonly network: Network
}

/**
 * Checks that another signer has the same accounts, so that nonces and stored transactions stay those of the relayer.
 * @throws AppError `signer_not_found`, or `invalid_request` that says which address the signer has
 */
export async function requireSameAccounts(
  context: ManageContext,
  { present, wanted, network }: Handover,
): Promise<void> {
  const { addresses } = await findAccounts(context, wanted, network)
  const [own, ...channels] = addresses
  if (own !== present.address)
    throw refused(
      `signer "${wanted.signerId}" has the key of ${own}, and relayer "${present.id}" operates ${present.address}; create a relayer for another account`,
    )
  const [, ...before] = (await findAccounts(context, present, network)).addresses
  if (channels.join() !== before.join())
    throw refused(`signer "${wanted.signerId}" derives other channel accounts than "${present.signerId}"`)
}

/**
 * Locks the signer against deletion until the commit.
 * @throws AppError `signer_not_found`
 */
export async function requireSigner(tx: Tx, relayer: RelayerConfig): Promise<void> {
  if ((await lockSigner(tx, relayer.signerId, 'share')) === undefined)
    throw signerNotFound(relayer, relayer.signerId)
}

function refused(sentence: string): AppError {
  return new AppError('invalid_request', `signer_id: ${sentence}.`)
}
