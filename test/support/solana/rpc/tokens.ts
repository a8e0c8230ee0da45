import { invalidParams } from '../../json-rpc/fault.ts'
import type { Node } from '../node.ts'
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../runtime/programs.ts'
import { readTokenAccount, type TokenAccount } from '../runtime/token.ts'
import { writeAccount } from './accounts.ts'
import { addressParam, configParam, contextParam, type Params, withContext } from './params.ts'

/** The token accounts of this owner, of one mint or of one token program. */
export function getTokenAccountsByOwner(node: Node, [owner, filter, config]: Params): unknown {
  const commitment = contextParam(node, config)
  const of = addressParam(owner)
  const fits = filterParam(filter)
  const accounts = [...node.chain.accounts.addresses()].flatMap((pubkey) => {
    const account = node.account(pubkey, commitment)
    const token = readTokenAccount(account)
    return token?.owner === of && fits(token)
      ? [{ pubkey, account: writeAccount(account, configParam(config)) }]
      : []
  })
  return withContext(node, commitment, accounts)
}

function filterParam(value: unknown): (token: TokenAccount) => boolean {
  const filter = configParam(value)
  if (filter.mint !== undefined) {
    const mint = addressParam(filter.mint)
    return (token) => token.mint === mint
  }
  const program = addressParam(filter.programId)
  if (program !== TOKEN_PROGRAM && program !== TOKEN_2022_PROGRAM) {
    throw invalidParams('Invalid param: unrecognized Token program id')
  }
  return (token) => token.program === program
}
