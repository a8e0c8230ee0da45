import type { Address } from '@solana/kit'
import { SYSTEM_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import type { TestSolana } from '../../../simulators/solana/start-solana.ts'
import {
  createAccount,
  createWallet,
  initializeNonce,
  NONCE_ACCOUNT_LENGTH,
  type Step,
  signContent,
} from '../../../simulators/solana/wallet.ts'
import { broadcastDirectly } from './broadcast-directly.ts'
import { ACCOUNTS, CUSTOMERS } from './environment.ts'

/** Opens a nonce account for each relayer, which only that relayer can advance; the first customer pays for them. */
export async function openNonces(solana: TestSolana): Promise<Address[]> {
  const [customer] = CUSTOMERS
  const lamports = solana.rentExemption(NONCE_ACCOUNT_LENGTH)
  const nonces = ACCOUNTS.map(() => createWallet())
  for (const [index, nonce] of nonces.entries()) {
    const authority = ACCOUNTS[index]?.address ?? ACCOUNTS[0].address
    const steps: Step[] = [
      createAccount(customer.address, nonce.address, {
        lamports,
        space: NONCE_ACCOUNT_LENGTH,
        owner: SYSTEM_PROGRAM,
      }),
      initializeNonce(nonce.address, authority),
    ]
    const { blockhash } = solana.tick()
    await broadcastDirectly(solana, signContent({ signers: [customer, nonce], blockhash, steps }).base64)
  }
  solana.tick()
  const missing = nonces.filter(({ address }) => solana.account(address) === undefined)
  if (missing.length > 0) throw new Error('the nonce accounts could not be opened')
  return nonces.map(({ address }) => address)
}
