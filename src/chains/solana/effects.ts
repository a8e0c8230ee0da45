import type { Effects } from '../effects.ts'
import { joinEffects, type PartialEffects } from '../join-effects.ts'
import type { SolanaRequest } from './content.ts'
import { readAssociatedToken } from './effects/associated-token.ts'
import type { Call, ReadCall } from './effects/call.ts'
import { readSystem } from './effects/system.ts'
import { readToken } from './effects/token.ts'
import { contentOf } from './request-content.ts'
import { accountsOf } from './wire/accounts.ts'
import { programOf } from './wire/message.ts'
import {
  ASSOCIATED_TOKEN_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  MEMO_V1_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from './wire/programs.ts'

/** Returns the effects of a checked request on the relayer's account `address`, without fees and rent. */
export function solanaEffects(request: SolanaRequest, address: string): Effects {
  const { message } = contentOf(request, address)
  const accounts = accountsOf(message)
  return joinEffects(
    message.instructions.map((instruction) => {
      const { accountIndices = [], data = [] } = instruction
      return effectsOf(
        {
          program: programOf(message, instruction),
          accounts: accountIndices.map((index) => accounts[index]?.address),
          data: Buffer.from(data),
        },
        address,
      )
    }),
  )
}

function effectsOf(call: Call, address: string): PartialEffects {
  const { program } = call
  if (program === COMPUTE_BUDGET_PROGRAM) return {}
  const read = reaches(call, address) ? READERS.get(program)?.(call, address) : {}
  return { contracts: [program], ...(read ?? { unread: [{ target: program }] }) }
}

/**
 * A program acts with the authority of the fee payer only when it receives its account; the account is then a signer, whatever the
 * instruction says. The fee payer is never among the accounts from tables, because a transaction loads no account twice (agave
 * `AccountLoadedTwice`).
 */
function reaches({ accounts }: Call, address: string): boolean {
  return accounts.includes(address)
}

const readNothing: ReadCall = () => ({})

const READERS: ReadonlyMap<string, ReadCall> = new Map([
  [SYSTEM_PROGRAM, readSystem],
  [TOKEN_PROGRAM, readToken],
  [TOKEN_2022_PROGRAM, readToken],
  [ASSOCIATED_TOKEN_PROGRAM, readAssociatedToken],
  [MEMO_PROGRAM, readNothing],
  [MEMO_V1_PROGRAM, readNothing],
])
