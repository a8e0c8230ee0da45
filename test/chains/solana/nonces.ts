import type { Address } from '@solana/kit'
import { SYSTEM_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import {
  createAccount,
  createWallet,
  initializeNonce,
  NONCE_ACCOUNT_LENGTH,
  signContent,
} from '../../../simulators/solana/wallet.ts'
import { SOL } from '../../support/solana-scenario.ts'
import type { Stage } from './build.ts'

/** Opens a nonce account that this address may advance; a third party pays for it. Takes two blocks. */
export async function openNonceAccount(
  { solana }: Pick<Stage, 'solana'>,
  authority: Address,
): Promise<Address> {
  const [payer, nonce] = [createWallet(), createWallet()]
  solana.airdrop(payer.address, SOL)
  const { blockhash } = solana.tick()
  const { base64 } = signContent({
    signers: [payer, nonce],
    blockhash,
    steps: [
      createAccount(payer.address, nonce.address, {
        lamports: solana.rentExemption(NONCE_ACCOUNT_LENGTH),
        space: NONCE_ACCOUNT_LENGTH,
        owner: SYSTEM_PROGRAM,
      }),
      initializeNonce(nonce.address, authority),
    ],
  })
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'sendTransaction',
    params: [base64, { encoding: 'base64', skipPreflight: true }],
  }
  const answer = await fetch(solana.url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { result } = (await answer.json()) as { result?: unknown }
  if (typeof result !== 'string') throw new Error('the nonce account could not be opened')
  solana.tick(2)
  if (solana.account(nonce.address) === undefined) throw new Error('the nonce account could not be opened')
  return nonce.address
}
