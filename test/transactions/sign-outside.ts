import { bytesToHex } from 'viem'
import { signDraft } from '../../src/chains/evm/sign.ts'
import { draftOf, legacy } from '../chains/evm/build.ts'
import type { TestAccount } from './fixture.ts'
import { SILENT_NETWORK } from './stub-chain.ts'

/** Well above every base fee of a test chain, in wei. */
const PRICE = 50_000_000_000n

/** Returns a transfer of one wei that another program signs with the key of the account, in RLP as hex. */
export async function signOutside({ runtime }: TestAccount, nonce: bigint): Promise<string> {
  const { chainId } = SILENT_NETWORK
  const { raw } = await signDraft({ draft: draftOf(legacy(PRICE)), nonce, chainId }, runtime.account.signer)
  return bytesToHex(raw)
}
