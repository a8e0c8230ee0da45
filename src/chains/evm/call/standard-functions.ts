import { type AbiFunction, selectorOf } from './abi.ts'
import { parseSignature } from './parse-signature.ts'

/** Functions of standards that many contracts follow. Two standards share a few of them; a parameter that means different things has no name. */
const SIGNATURES = [
  // ERC-20
  'transfer(address to, uint256 value)',
  'approve(address spender, uint256)',
  'transferFrom(address from, address to, uint256)',
  'increaseAllowance(address spender, uint256 addedValue)',
  'decreaseAllowance(address spender, uint256 subtractedValue)',
  'mint(address to, uint256)',
  'burn(uint256)',
  'burnFrom(address from, uint256 value)',
  // ERC-2612
  'permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)',
  // ERC-3009
  'transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  // ERC-721
  'safeTransferFrom(address from, address to, uint256 tokenId)',
  'safeTransferFrom(address from, address to, uint256 tokenId, bytes data)',
  'setApprovalForAll(address operator, bool approved)',
  // ERC-1155
  'safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)',
  'safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)',
  // WETH
  'deposit()',
  'withdraw(uint256 amount)',
  // ERC-4626
  'deposit(uint256 assets, address receiver)',
  'mint(uint256 shares, address receiver)',
  'withdraw(uint256 assets, address receiver, address owner)',
  'redeem(uint256 shares, address receiver, address owner)',
  // Permit2
  'approve(address token, address spender, uint160 amount, uint48 expiration)',
  'permit(address owner, ((address token, uint160 amount, uint48 expiration, uint48 nonce) details, address spender, uint256 sigDeadline) permitSingle, bytes signature)',
  'transferFrom(address from, address to, uint160 amount, address token)',
  'permitTransferFrom(((address token, uint256 amount) permitted, uint256 nonce, uint256 deadline) permit, (address to, uint256 requestedAmount) transferDetails, address owner, bytes signature)',
  // ERC-173
  'transferOwnership(address newOwner)',
  'renounceOwnership()',
  // Multicall
  'multicall(bytes[] data)',
]

/** The functions of standards, by selector. */
export const STANDARD_FUNCTIONS: ReadonlyMap<string, AbiFunction> = new Map(
  SIGNATURES.map(parseSignature).map((called) => [selectorOf(called), called]),
)
