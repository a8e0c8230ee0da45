// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// Stand-ins by the interfaces of the contracts that the plugin uses. They are written for tests alone.

interface Token {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
    function balanceOf(address account) external view returns (uint256);
}

/// By the interface of WETH9.
contract WrappedCoin {
    mapping(address => uint256) public balanceOf;
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Deposit(address indexed to, uint256 value);
    event Withdrawal(address indexed from, uint256 value);

    function deposit() external payable {
        balanceOf[msg.sender] += msg.value;
        emit Deposit(msg.sender, msg.value);
    }

    function withdraw(uint256 value) external {
        balanceOf[msg.sender] -= value;
        emit Withdrawal(msg.sender, value);
        (bool ok,) = msg.sender.call{value: value}("");
        require(ok, "the coin does not arrive");
    }

    function transfer(address to, uint256 value) external returns (bool) {
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// By the interface of Uniswap's SwapRouter02. It pays with what it has, at a price that anyone can set.
contract Router {
    struct ExactInputSingle {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address recipient;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    /// Wei for the smallest part of the token.
    uint256 public rate;
    /// Of what is due, this share in percent is given; the minimum is kept where it is 100.
    uint256 public given = 100;
    /// True for one that lies in blocks alone: nodes simulate with a price of 0 for gas.
    bool public simulatesWell;

    constructor(uint256 rate_) { rate = rate_; }

    function set(uint256 rate_, uint256 given_, bool simulatesWell_) external {
        (rate, given, simulatesWell) = (rate_, given_, simulatesWell_);
    }

    function fill(address coin) external payable { WrappedCoin(coin).deposit{value: msg.value}(); }

    function multicall(uint256 deadline, bytes[] calldata data) external payable returns (bytes[] memory results) {
        require(block.timestamp <= deadline, "Transaction too old");
        results = new bytes[](data.length);
        for (uint256 i; i < data.length; i++) {
            (bool ok, bytes memory result) = address(this).delegatecall(data[i]);
            if (!ok) assembly { revert(add(result, 32), mload(result)) }
            results[i] = result;
        }
    }

    function exactInputSingle(ExactInputSingle calldata params) external payable returns (uint256 amountOut) {
        uint256 before = Token(params.tokenIn).balanceOf(address(this));
        Token(params.tokenIn).transferFrom(msg.sender, address(this), params.amountIn);
        uint256 received = Token(params.tokenIn).balanceOf(address(this)) - before;
        amountOut = received * rate;
        bool lies = given < 100 && !(simulatesWell && tx.gasprice == 0);
        if (lies) amountOut = amountOut * given / 100;
        else require(amountOut >= params.amountOutMinimum, "Too little received");
        if (amountOut > 0) WrappedCoin(params.tokenOut).transfer(params.recipient, amountOut);
    }
}

/// A token that takes more of its owner than was asked for.
contract TakingToken {
    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(address => uint256)) public allowance;
    event Transfer(address indexed from, address indexed to, uint256 value);

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        require(value == 0 || allowance[msg.sender][spender] == 0, "reset it first");
        allowance[msg.sender][spender] = value;
        return true;
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        balanceOf[from] -= value + value / 10;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
        return true;
    }
}
