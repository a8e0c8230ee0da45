import { ScSpecTypeDef } from '@stellar/stellar-sdk/xdr'
import type { ContractSpec } from './contract-spec.ts'

const ADDRESS = ScSpecTypeDef.scSpecTypeAddress()
const I128 = ScSpecTypeDef.scSpecTypeI128()
const U32 = ScSpecTypeDef.scSpecTypeU32()
const BOOL = ScSpecTypeDef.scSpecTypeBool()

/** The functions of the Stellar Asset Contract, which is part of every network and so has no code to read (CAP-46-06). */
const FUNCTIONS: Readonly<Record<string, Readonly<Record<string, ScSpecTypeDef>>>> = {
  allowance: { from: ADDRESS, spender: ADDRESS },
  approve: { from: ADDRESS, spender: ADDRESS, amount: I128, expiration_ledger: U32 },
  balance: { id: ADDRESS },
  authorized: { id: ADDRESS },
  transfer: { from: ADDRESS, to: ADDRESS, amount: I128 },
  transfer_from: { spender: ADDRESS, from: ADDRESS, to: ADDRESS, amount: I128 },
  burn: { from: ADDRESS, amount: I128 },
  burn_from: { spender: ADDRESS, from: ADDRESS, amount: I128 },
  clawback: { from: ADDRESS, amount: I128 },
  mint: { to: ADDRESS, amount: I128 },
  set_admin: { new_admin: ADDRESS },
  set_authorized: { id: ADDRESS, authorize: BOOL },
  admin: {},
  decimals: {},
  name: {},
  symbol: {},
}

/** The specification of the Stellar Asset Contract. */
export const ASSET_CONTRACT: ContractSpec = {
  functions: new Map(
    Object.entries(FUNCTIONS).map(([name, inputs]) => [
      name,
      Object.entries(inputs).map(([input, type]) => ({ name: input, type })),
    ]),
  ),
  types: new Map(),
}
