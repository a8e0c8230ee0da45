// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// Stand-ins by the interfaces of the contracts that the plugin knows. They are written for tests alone.

/// A contract behind forwarders of ERC-2771 that is also the target of batches.
contract Counter {
    address public immutable forwarder;
    mapping(address => uint256) public counts;
    event Counted(address indexed by, uint256 count);

    constructor(address forwarder_) { forwarder = forwarder_; }

    function isTrustedForwarder(address asked) public view returns (bool) { return asked == forwarder; }

    function sender() internal view returns (address) {
        if (msg.sender == forwarder && msg.data.length >= 20) return address(bytes20(msg.data[msg.data.length - 20:]));
        return msg.sender;
    }

    function increment() external {
        counts[sender()] += 1;
        emit Counted(sender(), counts[sender()]);
    }

    function incrementSilently() external { counts[sender()] += 1; }

    function fail() external pure { revert("it fails"); }

    /// Nodes simulate with a price of 0 for gas, and blocks never do.
    function failInBlock() external {
        if (tx.gasprice > 0) revert("not in a block");
        counts[sender()] += 1;
    }

    /// Uses all gas in a block.
    function burnInBlock() external {
        if (tx.gasprice > 0) while (true) counts[address(0)] += 1;
        counts[sender()] += 1;
    }

    /// Reverts with one word, which looks like an id.
    function failWithWord() external pure {
        assembly { mstore(0, not(0)) revert(0, 32) }
    }

    /// As OpenZeppelin's Multicall was before it appended the sender.
    function multicall(bytes[] calldata data) external {
        for (uint256 i; i < data.length; i++) {
            (bool ok,) = address(this).delegatecall(data[i]);
            require(ok, "inner");
        }
    }
}

library Signatures {
    function recover(bytes32 hash, bytes memory signature) internal pure returns (address) {
        require(signature.length == 65, "signature");
        bytes32 r; bytes32 s; uint8 v;
        assembly {
            r := mload(add(signature, 32))
            s := mload(add(signature, 64))
            v := byte(0, mload(add(signature, 96)))
        }
        address signer = ecrecover(hash, v, r, s);
        require(signer != address(0), "signature");
        return signer;
    }

    function typed(bytes32 domain, bytes32 structHash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked(hex"1901", domain, structHash));
    }

    function domainOf(string memory name, string memory version, address account) internal view returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
            keccak256(bytes(name)), keccak256(bytes(version)), block.chainid, account
        ));
    }
}

/// By the interface of thirdweb's Forwarder: it reverts where the call of the user fails.
contract RevertingForwarder {
    struct ForwardRequest { address from; address to; uint256 value; uint256 gas; uint256 nonce; bytes data; }
    mapping(address => uint256) public getNonce;

    function execute(ForwardRequest calldata req, bytes calldata signature) external payable returns (bool, bytes memory) {
        bytes32 hash = Signatures.typed(
            Signatures.domainOf("GSNv2 Forwarder", "0.0.1", address(this)),
            keccak256(abi.encode(
                keccak256("ForwardRequest(address from,address to,uint256 value,uint256 gas,uint256 nonce,bytes data)"),
                req.from, req.to, req.value, req.gas, req.nonce, keccak256(req.data)
            ))
        );
        require(Signatures.recover(hash, signature) == req.from && getNonce[req.from] == req.nonce, "signature");
        getNonce[req.from] = req.nonce + 1;
        (bool ok, bytes memory result) = req.to.call{gas: req.gas, value: req.value}(abi.encodePacked(req.data, req.from));
        require(ok, "reverted silently");
        assert(gasleft() > req.gas / 63);
        return (ok, result);
    }
}

/// By the interface of thirdweb's ForwarderChainlessDomain: the chain is in the request, and a failed call does not revert.
contract ChainlessForwarder {
    struct ForwardRequest { address from; address to; uint256 value; uint256 gas; uint256 nonce; bytes data; uint256 chainid; }
    mapping(address => uint256) public getNonce;

    function execute(ForwardRequest calldata req, bytes calldata signature) external payable returns (bool, bytes memory) {
        require(req.chainid == block.chainid, "chain");
        bytes32 domain = keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,address verifyingContract)"),
            keccak256("GSNv2 Forwarder"), keccak256("0.0.1"), address(this)
        ));
        bytes32 hash = Signatures.typed(domain, keccak256(abi.encode(
            keccak256("ForwardRequest(address from,address to,uint256 value,uint256 gas,uint256 nonce,bytes data,uint256 chainid)"),
            req.from, req.to, req.value, req.gas, req.nonce, keccak256(req.data), req.chainid
        )));
        require(Signatures.recover(hash, signature) == req.from && getNonce[req.from] == req.nonce, "signature");
        getNonce[req.from] = req.nonce + 1;
        (bool ok, bytes memory result) = req.to.call{gas: req.gas, value: req.value}(abi.encodePacked(req.data, req.from));
        assert(gasleft() > req.gas / 63);
        return (ok, result);
    }
}

struct Call { address to; uint256 value; bytes data; }

library Calls {
    bytes32 constant CALL = keccak256("Call(address to,uint256 value,bytes data)");
    bytes32 constant TARGET_CALL = keccak256("Call(address target,uint256 value,bytes data)");

    function hashOf(Call[] memory calls, bytes32 typeHash) internal pure returns (bytes32) {
        bytes32[] memory hashes = new bytes32[](calls.length);
        for (uint256 i; i < calls.length; i++)
            hashes[i] = keccak256(abi.encode(typeHash, calls[i].to, calls[i].value, keccak256(calls[i].data)));
        return keccak256(abi.encodePacked(hashes));
    }

    function run(Call[] memory calls) internal {
        for (uint256 i; i < calls.length; i++) {
            address to = calls[i].to == address(0) ? address(this) : calls[i].to;
            (bool ok, bytes memory result) = to.call{value: calls[i].value}(calls[i].data);
            if (!ok) assembly { revert(add(result, 32), mload(result)) }
        }
    }
}

/// By the interface of Gelato's delegation.
contract GelatoAccount {
    mapping(uint192 => uint64) sequences;

    function getNonce(uint192 key) public view returns (uint256) { return (uint256(key) << 64) | sequences[key]; }

    function execute(bytes32 mode, bytes calldata executionData) external payable {
        (Call[] memory calls, bytes memory opData) = abi.decode(executionData, (Call[], bytes));
        require(mode == 0x0100000000007821000100000000000000000000000000000000000000000000, "mode");
        uint192 key;
        bytes memory signature = new bytes(opData.length - 24);
        assembly { key := shr(64, mload(add(opData, 32))) }
        for (uint256 i; i < signature.length; i++) signature[i] = opData[i + 24];
        bytes32 hash = Signatures.typed(
            Signatures.domainOf("GelatoDelegation", "0.0.1", address(this)),
            keccak256(abi.encode(
                keccak256("Execute(bytes32 mode,Call[] calls,uint256 nonce)Call(address to,uint256 value,bytes data)"),
                mode, Calls.hashOf(calls, Calls.CALL), getNonce(key)
            ))
        );
        sequences[key] += 1;
        require(Signatures.recover(hash, signature) == address(this), "signature");
        Calls.run(calls);
    }

    receive() external payable {}
}

/// By the interface of Uniswap's Calibur.
contract CaliburAccount {
    struct BatchedCall { Call[] calls; bool revertOnFailure; }
    struct SignedBatchedCall { BatchedCall batchedCall; uint256 nonce; bytes32 keyHash; address executor; uint256 deadline; }
    bytes32 constant BATCHED = keccak256("BatchedCall(Call[] calls,bool revertOnFailure)Call(address to,uint256 value,bytes data)");
    bytes32 constant SIGNED = keccak256(
        "SignedBatchedCall(BatchedCall batchedCall,uint256 nonce,bytes32 keyHash,address executor,uint256 deadline)BatchedCall(Call[] calls,bool revertOnFailure)Call(address to,uint256 value,bytes data)"
    );
    address immutable implementation = address(this);
    mapping(uint256 => uint64) sequences;

    function eip712Domain() public view returns (
        bytes1 fields, string memory name, string memory version, uint256 chainId, address verifyingContract, bytes32 salt, uint256[] memory extensions
    ) {
        return (0x1f, "Calibur", "1.0.0", block.chainid, address(this), bytes32(uint256(uint160(implementation))), new uint256[](0));
    }

    function execute(SignedBatchedCall memory batch, bytes memory wrappedSignature) external payable {
        require(batch.executor == address(0) || batch.executor == msg.sender, "executor");
        require(batch.deadline == 0 || block.timestamp <= batch.deadline, "deadline");
        require(batch.keyHash == 0, "key");
        uint256 key = batch.nonce >> 64;
        require(sequences[key] == uint64(batch.nonce), "nonce");
        sequences[key] += 1;
        bytes32 domain = keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract,bytes32 salt)"),
            keccak256("Calibur"), keccak256("1.0.0"), block.chainid, address(this), bytes32(uint256(uint160(implementation)))
        ));
        bytes32 batched = keccak256(abi.encode(
            BATCHED, Calls.hashOf(batch.batchedCall.calls, Calls.CALL), batch.batchedCall.revertOnFailure
        ));
        bytes32 hash = Signatures.typed(domain, keccak256(abi.encode(
            SIGNED, batched, batch.nonce, batch.keyHash, batch.executor, batch.deadline
        )));
        (bytes memory signature,) = abi.decode(wrappedSignature, (bytes, bytes));
        require(Signatures.recover(hash, signature) == address(this), "signature");
        Calls.run(batch.batchedCall.calls);
    }

    receive() external payable {}
}

/// By the interface of thirdweb's MinimalAccount.
contract ThirdwebAccount {
    struct WrappedCalls { Call[] calls; bytes32 uid; }
    mapping(bytes32 => bool) used;

    function executeWithSig(WrappedCalls calldata wrapped, bytes calldata signature) external payable {
        require(!used[wrapped.uid], "uid");
        used[wrapped.uid] = true;
        bytes32 hash = Signatures.typed(
            Signatures.domainOf("MinimalAccount", "1", address(this)),
            keccak256(abi.encode(
                keccak256("WrappedCalls(Call[] calls,bytes32 uid)Call(address target,uint256 value,bytes data)"),
                Calls.hashOf(wrapped.calls, Calls.TARGET_CALL), wrapped.uid
            ))
        );
        require(Signatures.recover(hash, signature) == address(this), "signature");
        Calls.run(wrapped.calls);
    }

    receive() external payable {}
}

/// By the interface of Turnkey's TKGasDelegate.
contract TurnkeyAccount {
    uint128 public nonce;

    function execute(bytes calldata data) external {
        Call[] memory calls = new Call[](1);
        calls[0] = Call(address(bytes20(data[85:105])), uint256(bytes32(data[105:137])), data[137:]);
        check(data, single(data, calls[0]));
        Calls.run(calls);
    }

    function execute(address to, uint256 value, bytes calldata data) external {
        Call[] memory calls = new Call[](1);
        calls[0] = Call(to, value, data[85:]);
        check(data, single(data, calls[0]));
        Calls.run(calls);
    }

    function executeBatch(bytes calldata data) external {
        Call[] memory calls = abi.decode(data[85:], (Call[]));
        check(data, several(data, calls));
        Calls.run(calls);
    }

    function executeBatch(Call[] calldata calls, bytes calldata data) external {
        check(data, several(data, calls));
        Calls.run(calls);
    }

    function single(bytes calldata head, Call memory call) internal pure returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("Execution(uint128 nonce,uint32 deadline,address to,uint256 value,bytes data)"),
            uint128(bytes16(head[65:81])), uint32(bytes4(head[81:85])), call.to, call.value, keccak256(call.data)
        ));
    }

    function several(bytes calldata head, Call[] memory calls) internal pure returns (bytes32) {
        return keccak256(abi.encode(
            keccak256("BatchExecution(uint128 nonce,uint32 deadline,Call[] calls)Call(address to,uint256 value,bytes data)"),
            uint128(bytes16(head[65:81])), uint32(bytes4(head[81:85])), Calls.hashOf(calls, Calls.CALL)
        ));
    }

    function check(bytes calldata head, bytes32 structHash) internal {
        require(block.timestamp <= uint32(bytes4(head[81:85])), "deadline");
        require(uint128(bytes16(head[65:81])) == nonce, "nonce");
        nonce += 1;
        bytes32 hash = Signatures.typed(Signatures.domainOf("TKGasDelegate", "1.1", address(this)), structHash);
        require(Signatures.recover(hash, head[0:65]) == address(this), "signature");
    }

    receive() external payable {}
}

interface IToken {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// The part of Permit2 with which the account itself takes what another one has signed for it.
contract SignatureTransfer {
    struct TokenPermissions { address token; uint256 amount; }
    struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }
    struct TransferDetails { address to; uint256 requestedAmount; }

    mapping(address => mapping(uint256 => bool)) public used;

    function permitTransferFrom(
        PermitTransferFrom calldata permit, TransferDetails calldata details, address owner, bytes calldata signature
    ) external {
        require(block.timestamp <= permit.deadline, "SignatureExpired");
        require(details.requestedAmount <= permit.permitted.amount, "InvalidAmount");
        require(!used[owner][permit.nonce], "InvalidNonce");
        used[owner][permit.nonce] = true;
        require(Signatures.recover(hashOf(permit), signature) == owner, "InvalidSigner");
        require(IToken(permit.permitted.token).transferFrom(owner, details.to, details.requestedAmount));
    }

    function hashOf(PermitTransferFrom calldata permit) internal view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(
            keccak256("EIP712Domain(string name,uint256 chainId,address verifyingContract)"), keccak256("Permit2"), block.chainid, address(this)
        ));
        bytes32 permitted = keccak256(abi.encode(
            keccak256("TokenPermissions(address token,uint256 amount)"), permit.permitted.token, permit.permitted.amount
        ));
        bytes32 typeHash = keccak256(
            "PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)TokenPermissions(address token,uint256 amount)"
        );
        return Signatures.typed(domain, keccak256(abi.encode(typeHash, permitted, msg.sender, permit.nonce, permit.deadline)));
    }
}

/// The part of a pool of Uniswap v3 that tells what its price was. Whoever moves it changes what it adds up from then on.
contract ObservedPool {
    address public token0;
    address public token1;
    int56 internal ticks;
    uint160 internal perLiquidity;
    uint256 internal last;
    uint256 internal first;
    int24 internal tick;
    uint128 internal liquidity;

    constructor(address token0_, address token1_, int24 tick_, uint128 liquidity_) {
        (token0, token1, tick, liquidity) = (token0_, token1_, tick_, liquidity_);
        // It was there a day ago.
        (first, last) = (block.timestamp - 1 days, block.timestamp - 1 days);
    }

    function move(int24 to) external {
        (ticks, perLiquidity) = sums(block.timestamp);
        (last, tick) = (block.timestamp, to);
    }

    /// Since it was moved last, the price was the same.
    function observe(uint32[] calldata secondsAgos) external view returns (int56[] memory, uint160[] memory) {
        int56[] memory ticks_ = new int56[](secondsAgos.length);
        uint160[] memory perLiquidity_ = new uint160[](secondsAgos.length);
        for (uint256 i = 0; i < secondsAgos.length; i++) {
            uint256 at = block.timestamp - secondsAgos[i];
            require(at >= first, "OLD");
            (ticks_[i], perLiquidity_[i]) = at >= last ? sums(at) : (ticks - tick0() * int56(int256(last - at)), perLiquidity - uint160((last - at) << 128) / liquidity);
        }
        return (ticks_, perLiquidity_);
    }

    function tick0() internal view returns (int56) {
        return last == first ? int56(tick) : ticks / int56(int256(last - first));
    }

    function sums(uint256 at) internal view returns (int56, uint160) {
        uint256 passed = at - last;
        return (ticks + int56(tick) * int56(int256(passed)), perLiquidity + uint160((passed << 128) / liquidity));
    }
}

/// A user operation of EntryPoint 0.6, and of 0.7 and later.
struct UserOperation {
    address sender; uint256 nonce; bytes initCode; bytes callData; uint256 callGasLimit; uint256 verificationGasLimit;
    uint256 preVerificationGas; uint256 maxFeePerGas; uint256 maxPriorityFeePerGas; bytes paymasterAndData; bytes signature;
}
struct PackedUserOperation {
    address sender; uint256 nonce; bytes initCode; bytes callData; bytes32 accountGasLimits;
    uint256 preVerificationGas; bytes32 gasFees; bytes paymasterAndData; bytes signature;
}

/// An account that an EntryPoint calls.
abstract contract OperationAccount {
    address immutable entryPoint;

    constructor(address entryPoint_) { entryPoint = entryPoint_; }

    modifier onlyEntryPoint() {
        require(msg.sender == entryPoint || msg.sender == address(this), "Unauthorized");
        _;
    }

    function validation(bytes32 hash, bytes memory signature, address owner, uint256 missing) internal returns (uint256) {
        if (missing > 0) {
            // The EntryPoint checks it.
            (bool ok,) = msg.sender.call{value: missing}("");
            ok;
        }
        return Signatures.recover(hash, signature) == owner ? 0 : 1;
    }

    function personal(bytes32 hash) internal pure returns (bytes32) {
        return keccak256(abi.encodePacked("\x19Ethereum Signed Message:\n32", hash));
    }

    function runOne(address to, uint256 value, bytes memory data) internal {
        Call[] memory calls = new Call[](1);
        calls[0] = Call(to, value, data);
        Calls.run(calls);
    }

    receive() external payable {}
}

/// By the interface of Coinbase's Smart Wallet, with owners that have a key of their own.
contract CoinbaseAccount is OperationAccount {
    struct SignatureWrapper { uint256 ownerIndex; bytes signatureData; }
    bytes[] owners;

    constructor(address entryPoint_) OperationAccount(entryPoint_) {}

    function initialize(bytes[] calldata list) external payable {
        require(owners.length == 0, "Initialized");
        for (uint256 i; i < list.length; i++) owners.push(list[i]);
    }

    function validateUserOp(UserOperation calldata op, bytes32 hash, uint256 missing) external onlyEntryPoint returns (uint256) {
        // Of operations that count on every chain.
        require(op.nonce >> 64 != 8453, "InvalidNonceKey");
        SignatureWrapper memory wrapper = abi.decode(op.signature, (SignatureWrapper));
        address owner = address(uint160(uint256(bytes32(owners[wrapper.ownerIndex]))));
        return validation(hash, wrapper.signatureData, owner, missing);
    }

    function execute(address target, uint256 value, bytes calldata data) external payable onlyEntryPoint { runOne(target, value, data); }

    function executeBatch(Call[] calldata calls) external payable onlyEntryPoint { Calls.run(calls); }

    function upgradeToAndCall(address implementation, bytes calldata) external payable onlyEntryPoint {
        assembly { sstore(0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc, implementation) }
    }
}

/// By the interface of ERC-1967.
contract ImplementationProxy {
    bytes32 constant SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    constructor(address implementation) { assembly { sstore(SLOT, implementation) } }

    fallback() external payable {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let ok := delegatecall(gas(), sload(SLOT), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(ok) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }

    receive() external payable {}
}

/// By the interface of the factory of Coinbase's Smart Wallet.
contract CoinbaseFactory {
    address public immutable implementation;

    constructor(address implementation_) { implementation = implementation_; }

    function createAccount(bytes[] calldata owners, uint256 nonce) external payable returns (address account) {
        account = getAddress(owners, nonce);
        if (account.code.length > 0) return account;
        new ImplementationProxy{salt: keccak256(abi.encode(owners, nonce))}(implementation);
        CoinbaseAccount(payable(account)).initialize(owners);
    }

    function getAddress(bytes[] calldata owners, uint256 nonce) public view returns (address) {
        bytes32 code = keccak256(abi.encodePacked(type(ImplementationProxy).creationCode, abi.encode(implementation)));
        bytes32 salt = keccak256(abi.encode(owners, nonce));
        return address(uint160(uint256(keccak256(abi.encodePacked(bytes1(0xff), address(this), salt, code)))));
    }
}

/// By the interface of Alchemy's SemiModularAccount7702, with its own key.
contract AlchemyAccount is OperationAccount {
    constructor(address entryPoint_) OperationAccount(entryPoint_) {}

    function validateUserOp(PackedUserOperation calldata op, bytes32 hash, uint256 missing) external onlyEntryPoint returns (uint256) {
        // The lowest byte of the key says that the validation is global, the next four name it: 0 is the own key.
        uint256 key = op.nonce >> 64;
        require(uint8(key) == 1 && uint32(key >> 8) == 0, "ValidationFunctionMissing");
        // No data for hooks, and a signature by a key.
        require(op.signature[0] == 0xff && op.signature[1] == 0x00, "InvalidSignatureType");
        return validation(personal(hash), op.signature[2:], address(this), missing);
    }

    function execute(address target, uint256 value, bytes calldata data) external payable onlyEntryPoint { runOne(target, value, data); }

    function executeBatch(Call[] calldata calls) external payable onlyEntryPoint { Calls.run(calls); }

    function executeUserOp(PackedUserOperation calldata op, bytes32) external onlyEntryPoint {
        runOne(address(this), 0, op.callData[4:]);
    }
}

/// By the interface of Biconomy's Nexus (ERC-7579), with the validator that knows its own key.
contract NexusAccount is OperationAccount {
    address public constant VALIDATOR = 0x00000000000000000000000000000000DeaDBeef;

    constructor(address entryPoint_) OperationAccount(entryPoint_) {}

    function validateUserOp(PackedUserOperation calldata op, bytes32 hash, uint256 missing) external onlyEntryPoint returns (uint256) {
        // The key of the nonce has three free bytes, the mode of the validation, and the validator.
        uint256 key = op.nonce >> 64;
        require(uint8(key >> 160) == 0 && address(uint160(key)) == VALIDATOR, "ValidatorNotInstalled");
        return validation(personal(hash), op.signature, address(this), missing);
    }

    function execute(bytes32 mode, bytes calldata data) external payable onlyEntryPoint {
        require(mode[0] == 0 || mode[0] == 0x01, "UnsupportedCallType");
        if (mode[0] == 0) return runOne(address(bytes20(data[:20])), uint256(bytes32(data[20:52])), data[52:]);
        Call[] memory calls = abi.decode(data, (Call[]));
        if (mode[1] == 0) return Calls.run(calls);
        // The other way of execution carries on after a failed call.
        for (uint256 i; i < calls.length; i++) {
            (bool ok,) = calls[i].to.call{value: calls[i].value}(calls[i].data);
            ok;
        }
    }
}
