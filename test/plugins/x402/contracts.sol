// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// A token with EIP-3009, as USDC has it: signatures of keys, and of contracts by ERC-1271.
contract AuthorizationToken {
    string public name;
    string public version;
    uint8 public constant decimals = 6;
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;
    /// Of each transfer, this share in percent goes to no one: 0 for an honest token.
    uint256 public feePercent;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);
    event AuthorizationCanceled(address indexed authorizer, bytes32 indexed nonce);

    bytes32 constant TRANSFER_TYPEHASH = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    constructor(string memory name_, string memory version_, uint256 feePercent_) {
        (name, version, feePercent) = (name_, version_, feePercent_);
    }

    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
            keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, address(this)
        ));
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        move(msg.sender, to, value);
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        require(allowance[from][msg.sender] >= value, "allowance too low");
        allowance[from][msg.sender] -= value;
        move(from, to, value);
        return true;
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s
    ) external {
        transferWithAuthorization(from, to, value, validAfter, validBefore, nonce, abi.encodePacked(r, s, v));
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes memory signature
    ) public {
        require(block.timestamp > validAfter, "authorization is not yet valid");
        require(block.timestamp < validBefore, "authorization is expired");
        require(!authorizationState[from][nonce], "authorization is used or canceled");
        bytes32 hash = keccak256(abi.encodePacked(
            "\x19\x01", DOMAIN_SEPARATOR(),
            keccak256(abi.encode(TRANSFER_TYPEHASH, from, to, value, validAfter, validBefore, nonce))
        ));
        require(isSignedBy(from, hash, signature), "invalid signature");
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        move(from, to, value);
    }

    function cancelAuthorization(address authorizer, bytes32 nonce, uint8 v, bytes32 r, bytes32 s) external {
        require(!authorizationState[authorizer][nonce], "authorization is used or canceled");
        bytes32 hash = keccak256(abi.encodePacked(
            "\x19\x01", DOMAIN_SEPARATOR(),
            keccak256(abi.encode(keccak256("CancelAuthorization(address authorizer,bytes32 nonce)"), authorizer, nonce))
        ));
        require(isSignedBy(authorizer, hash, abi.encodePacked(r, s, v)), "invalid signature");
        authorizationState[authorizer][nonce] = true;
        emit AuthorizationCanceled(authorizer, nonce);
    }

    function isSignedBy(address signer, bytes32 hash, bytes memory signature) internal view returns (bool) {
        if (signer.code.length > 0) {
            (bool ok, bytes memory answer) = signer.staticcall(abi.encodeWithSelector(0x1626ba7e, hash, signature));
            return ok && answer.length >= 32 && abi.decode(answer, (bytes4)) == 0x1626ba7e;
        }
        if (signature.length != 65) return false;
        bytes32 r; bytes32 s; uint8 v;
        assembly { r := mload(add(signature, 32)) s := mload(add(signature, 64)) v := byte(0, mload(add(signature, 96))) }
        if (uint256(s) > 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0) return false;
        return signer != address(0) && ecrecover(hash, v, r, s) == signer;
    }

    function move(address from, address to, uint256 value) internal virtual {
        require(balanceOf[from] >= value, "transfer amount exceeds balance");
        balanceOf[from] -= value;
        balanceOf[to] += value - value * feePercent / 100;
        emit Transfer(from, to, value);
    }
}

/// A token that moves what it should where it is only simulated, which shows by a price of zero. In a block it reverts, burns gas, or moves nothing.
contract TwoFacedToken is AuthorizationToken {
    mapping(uint256 => uint256) burnt;
    uint256 immutable way;

    constructor(string memory name_, string memory version_, uint256 way_) AuthorizationToken(name_, version_, 0) { way = way_; }

    function move(address from, address to, uint256 value) internal override {
        if (tx.gasprice == 0) return super.move(from, to, value);
        require(way != 0, "not in a block");
        if (way == 2) return;
        uint256 sum;
        for (uint256 i; i < 2000; i++) sum += burnt[i];
        balanceOf[to] += sum;
    }
}

/// A wallet whose owner signs for it (ERC-1271).
contract OwnedWallet {
    address public immutable owner;

    constructor(address owner_) { owner = owner_; }

    function isValidSignature(bytes32 hash, bytes calldata signature) external view returns (bytes4) {
        if (signature.length != 65) return 0xffffffff;
        bytes32 r = bytes32(signature[0:32]);
        bytes32 s = bytes32(signature[32:64]);
        return ecrecover(hash, uint8(signature[64]), r, s) == owner ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// A wallet that accepts every signature, and burns the gas of whoever asks.
contract GreedyWallet {
    mapping(uint256 => uint256) burnt;

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        uint256 sum;
        for (uint256 i; i < 4000; i++) sum += burnt[i];
        return sum == 0 ? bytes4(0x1626ba7e) : bytes4(0);
    }
}

/// A wallet that accepts every signature where it is only simulated, which shows by a price of zero. In a block it refuses, or burns gas.
contract TwoFacedWallet {
    mapping(uint256 => uint256) burnt;
    bool immutable burns;

    constructor(bool burns_) { burns = burns_; }

    function isValidSignature(bytes32, bytes calldata) external view returns (bytes4) {
        if (tx.gasprice == 0) return 0x1626ba7e;
        if (!burns) return 0xffffffff;
        uint256 sum;
        for (uint256 i; i < 2000; i++) sum += burnt[i];
        return sum == 0 ? bytes4(0x1626ba7e) : bytes4(0);
    }
}

/// Creates an OwnedWallet at an address that is known before.
contract WalletFactory {
    function create(address owner, bytes32 salt) external returns (address) {
        return address(new OwnedWallet{salt: salt}(owner));
    }
}

/// The one function of Multicall3 that the plugin calls; tests put it at the address of Multicall3.
contract Multicall {
    struct Call { address target; bool allowFailure; bytes callData; }
    struct Result { bool success; bytes returnData; }

    function aggregate3(Call[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i; i < calls.length; i++) {
            (results[i].success, results[i].returnData) = calls[i].target.call(calls[i].callData);
            require(calls[i].allowFailure || results[i].success, "Multicall3: call failed");
        }
    }
}

/// The part of Permit2 that x402's proxy calls, with its EIP-712 types and its bitmap of nonces.
contract Permit2 {
    struct TokenPermissions { address token; uint256 amount; }
    struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }
    struct TransferDetails { address to; uint256 requestedAmount; }

    mapping(address => mapping(uint256 => uint256)) public nonceBitmap;

    function permitWitnessTransferFrom(
        PermitTransferFrom calldata permit, TransferDetails calldata details, address owner, bytes32 witness,
        string calldata witnessType, bytes calldata signature
    ) external {
        require(block.timestamp <= permit.deadline, "SignatureExpired");
        require(details.requestedAmount <= permit.permitted.amount, "InvalidAmount");
        uint256 bit = 1 << (permit.nonce & 255);
        require(nonceBitmap[owner][permit.nonce >> 8] & bit == 0, "InvalidNonce");
        nonceBitmap[owner][permit.nonce >> 8] |= bit;
        require(recover(hashOf(permit, witness, witnessType), signature) == owner, "InvalidSigner");
        require(AuthorizationToken(permit.permitted.token).transferFrom(owner, details.to, details.requestedAmount));
    }

    function hashOf(PermitTransferFrom calldata permit, bytes32 witness, string calldata witnessType) internal view returns (bytes32) {
        bytes32 typeHash = keccak256(abi.encodePacked(
            "PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,", witnessType
        ));
        bytes32 permitted = keccak256(abi.encode(
            keccak256("TokenPermissions(address token,uint256 amount)"), permit.permitted.token, permit.permitted.amount
        ));
        bytes32 domain = keccak256(abi.encode(
            keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)"), keccak256("Permit2"), block.chainid, address(this)
        ));
        return keccak256(abi.encodePacked(
            "\x19\x01", domain, keccak256(abi.encode(typeHash, permitted, msg.sender, permit.nonce, permit.deadline, witness))
        ));
    }

    function recover(bytes32 hash, bytes calldata signature) internal pure returns (address) {
        require(signature.length == 65, "InvalidSignatureLength");
        return ecrecover(hash, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
    }
}

/// A token with EIP-2612: a signature allows someone to spend.
contract PermitToken is AuthorizationToken {
    mapping(address => uint256) public nonces;

    constructor(string memory name_, string memory version_, uint256 feePercent_) AuthorizationToken(name_, version_, feePercent_) {}

    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s) external {
        require(block.timestamp <= deadline, "permit is expired");
        bytes32 typeHash = keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)");
        bytes32 hash = keccak256(abi.encodePacked(
            "\x19\x01", DOMAIN_SEPARATOR(), keccak256(abi.encode(typeHash, owner, spender, value, nonces[owner]++, deadline))
        ));
        require(isSignedBy(owner, hash, abi.encodePacked(r, s, v)), "invalid permit");
        allowance[owner][spender] = value;
        emit Approval(owner, spender, value);
    }
}

/// What both of x402's proxies share: they let a permit of the token through first, whether it succeeds or not.
contract Permit2ProxyBase {
    struct EIP2612Permit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }

    address constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;

    event EIP2612PermitFailed(address token, address owner);

    function allow(EIP2612Permit calldata permit2612, Permit2.PermitTransferFrom calldata permit, address owner) internal {
        require(permit2612.value == permit.permitted.amount, "Permit2612AmountMismatch");
        PermitToken token = PermitToken(permit.permitted.token);
        try token.permit(owner, PERMIT2, permit2612.value, permit2612.deadline, permit2612.v, permit2612.r, permit2612.s) {}
        catch { emit EIP2612PermitFailed(permit.permitted.token, owner); }
    }
}

/// x402's proxy in front of it: it pays whom the payer named, and no one else.
contract Permit2Proxy is Permit2ProxyBase {
    struct Witness { address to; uint256 validAfter; }

    function settle(Permit2.PermitTransferFrom calldata permit, address owner, Witness calldata witness, bytes calldata signature) external {
        pay(permit, owner, witness, signature);
    }

    function settleWithPermit(
        EIP2612Permit calldata permit2612, Permit2.PermitTransferFrom calldata permit, address owner, Witness calldata witness,
        bytes calldata signature
    ) external {
        allow(permit2612, permit, owner);
        pay(permit, owner, witness, signature);
    }

    function pay(Permit2.PermitTransferFrom calldata permit, address owner, Witness calldata witness, bytes calldata signature) internal {
        require(block.timestamp >= witness.validAfter, "PaymentTooEarly");
        bytes32 hash = keccak256(abi.encode(keccak256("Witness(address to,uint256 validAfter)"), witness.to, witness.validAfter));
        Permit2(PERMIT2).permitWitnessTransferFrom(
            permit, Permit2.TransferDetails(witness.to, permit.permitted.amount), owner, hash,
            "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,uint256 validAfter)", signature
        );
    }
}

/// x402's proxy for payments of at most an amount: the facilitator whom the payer named decides how much of it.
contract UptoPermit2Proxy is Permit2ProxyBase {
    struct Witness { address to; address facilitator; uint256 validAfter; }

    function settle(
        Permit2.PermitTransferFrom calldata permit, uint256 amount, address owner, Witness calldata witness, bytes calldata signature
    ) external {
        pay(permit, amount, owner, witness, signature);
    }

    function settleWithPermit(
        EIP2612Permit calldata permit2612, Permit2.PermitTransferFrom calldata permit, uint256 amount, address owner,
        Witness calldata witness, bytes calldata signature
    ) external {
        allow(permit2612, permit, owner);
        pay(permit, amount, owner, witness, signature);
    }

    function pay(
        Permit2.PermitTransferFrom calldata permit, uint256 amount, address owner, Witness calldata witness, bytes calldata signature
    ) internal {
        require(msg.sender == witness.facilitator, "UnauthorizedFacilitator");
        require(amount <= permit.permitted.amount, "AmountExceedsPermitted");
        require(amount > 0, "InvalidAmount");
        require(block.timestamp >= witness.validAfter, "PaymentTooEarly");
        bytes32 typeHash = keccak256("Witness(address to,address facilitator,uint256 validAfter)");
        bytes32 hash = keccak256(abi.encode(typeHash, witness.to, witness.facilitator, witness.validAfter));
        Permit2(PERMIT2).permitWitnessTransferFrom(
            permit, Permit2.TransferDetails(witness.to, amount), owner, hash,
            "Witness witness)TokenPermissions(address token,uint256 amount)Witness(address to,address facilitator,uint256 validAfter)", signature
        );
    }
}
