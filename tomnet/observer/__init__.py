"""The observer: ToMnet. It sees episodes and nothing else; what it knows about minds, it learned."""
