import { AppError } from '../../errors.ts'
import type { Network } from '../../networks/network.ts'
import { accountsOf, duplicateAccounts, type RelayerAccounts } from '../accounts.ts'
import type { RelayerConfig } from '../relayer.ts'
import { MissingSignerError } from '../source-accounts.ts'
import { UnfitSignerError } from '../unfit-signer.ts'
import type { ManageContext } from './context.ts'

/**
 * Derives the accounts of a relayer from the keys of its signers.
 * @throws AppError `signer_not_found`, or `invalid_request` for a signer that cannot sign for it
 */
export async function findAccounts(
  { findKey }: ManageContext,
  relayer: RelayerConfig,
  network: Network,
): Promise<RelayerAccounts> {
  try {
    const accounts = await accountsOf(relayer, network, findKey)
    const [duplicate] = duplicateAccounts([{ id: relayer.id, ...accounts }])
    if (duplicate !== undefined) throw new AppError('invalid_request', `channels: ${duplicate}.`)
    return accounts
  } catch (error) {
    if (error instanceof MissingSignerError) throw signerNotFound(relayer, error.signerId)
    if (error instanceof UnfitSignerError)
      throw new AppError('invalid_request', `${error.field}: ${error.message}.`, { cause: error })
    throw error
  }
}

/** Makes the failure for a signer that a relayer names and that does not exist. */
export function signerNotFound({ signerId }: RelayerConfig, missing: string): AppError {
  const field = missing === signerId ? 'signer_id' : 'channels'
  return new AppError('signer_not_found', `${field}: there is no signer "${missing}".`)
}
