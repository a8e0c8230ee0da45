import { createHash } from 'node:crypto'
import { Address, nativeToScVal, xdr } from '@stellar/stellar-sdk'

/** An authorization, to be signed by someone. Everything but the calls has a default. */
export interface Authorization {
  readonly passphrase: string
  readonly root: xdr.SorobanAuthorizedInvocation
  readonly expirationLedger: number
  readonly nonce?: bigint
  /** The account that the preimage names (CAP-71); none by default. */
  readonly address?: string
}

/** Writes the preimage of an authorization, XDR in base64. */
export function preimageOf({
  passphrase,
  root,
  expirationLedger,
  nonce = 1n,
  address,
}: Authorization): string {
  const fields = {
    networkId: createHash('sha256').update(passphrase).digest(),
    nonce,
    signatureExpirationLedger: expirationLedger,
    invocation: root,
  }
  const preimage =
    address === undefined
      ? xdr.HashIdPreimage.envelopeTypeSorobanAuthorization(
          new xdr.HashIdPreimageSorobanAuthorization(fields),
        )
      : xdr.HashIdPreimage.envelopeTypeSorobanAuthorizationWithAddress(
          new xdr.HashIdPreimageSorobanAuthorizationWithAddress({
            ...fields,
            address: Address.fromString(address).toScAddress(),
          }),
        )
  return preimage.toXdr('base64')
}

/** A call of a contract, and the calls below it. */
export function invocation(
  contract: string,
  functionName: string,
  args: readonly xdr.ScVal[] = [],
  subInvocations: readonly xdr.SorobanAuthorizedInvocation[] = [],
): xdr.SorobanAuthorizedInvocation {
  return new xdr.SorobanAuthorizedInvocation({
    function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(
      new xdr.InvokeContractArgs({
        contractAddress: Address.fromString(contract).toScAddress(),
        functionName,
        args: [...args],
      }),
    ),
    subInvocations: [...subInvocations],
  })
}

/** The creation of a contract of the native asset. */
export function creation(): xdr.SorobanAuthorizedInvocation {
  return new xdr.SorobanAuthorizedInvocation({
    function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeCreateContractHostFn(
      new xdr.CreateContractArgs({
        contractIdPreimage: xdr.ContractIdPreimage.contractIdPreimageFromAsset(xdr.Asset.assetTypeNative()),
        executable: xdr.ContractExecutable.contractExecutableStellarAsset(),
      }),
    ),
    subInvocations: [],
  })
}

/** A transfer of a token. */
export interface TokenTransfer {
  readonly token: string
  readonly from: string
  readonly to: string
  readonly amount: bigint
}

/** The call of a token that makes this transfer. */
export function tokenTransfer({ token, from, to, amount }: TokenTransfer): xdr.SorobanAuthorizedInvocation {
  return invocation(token, 'transfer', [
    Address.fromString(from).toScVal(),
    Address.fromString(to).toScVal(),
    nativeToScVal(amount, { type: 'i128' }),
  ])
}
