import type { Funding } from '../capabilities.ts'
import type { SolanaPolicies, SolanaRequest } from './content.ts'
import type { FundsReader } from './read/balance.ts'
import { SYSTEM_PROGRAM } from './wire/programs.ts'
import { transferData } from './wire/system-instruction.ts'

/** Creates the payments of a Solana network. A transfer creates the account. */
export function createFunding({ readFunds }: FundsReader): Funding<SolanaRequest, SolanaPolicies> {
  return {
    read: (address, { asOf } = {}) => readFunds(address, asOf),
    pay: ({ to, amount }, { address }) => ({
      type: 'solana',
      instructions: [
        {
          programId: SYSTEM_PROGRAM,
          accounts: [
            { pubkey: address, isSigner: true, isWritable: true },
            { pubkey: to, isSigner: false, isWritable: true },
          ],
          data: transferData(amount),
        },
      ],
      speed: 'average',
    }),
  }
}
