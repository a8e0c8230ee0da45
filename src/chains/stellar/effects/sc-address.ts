import { StrKey } from '@stellar/stellar-sdk/base'
import type { InvokeContractArgs, ScAddress } from '@stellar/stellar-sdk/xdr'
import { accountIdOf } from '../model/strkey.ts'

/** Returns the `G…` address of an account, without the number of a muxed one, or the `C…` address of a contract; undefined for others. */
export function addressName(address: ScAddress): string | undefined {
  switch (address.type) {
    case 'scAddressTypeAccount':
      return accountIdOf(address.accountId.ed25519.toBytes())
    case 'scAddressTypeMuxedAccount':
      return accountIdOf(address.muxedAccount.ed25519.toBytes())
    case 'scAddressTypeContract':
      return StrKey.encodeContract(address.contractId.toBytes())
    default:
      return undefined
  }
}

/** Returns the address of the contract that a call names. The ledger calls nothing else; the name of another kind of address is on no list. */
export function contractName({ contractAddress }: InvokeContractArgs): string {
  return addressName(contractAddress) ?? contractAddress.type
}
